"""The methods of the Mastodon stand-in's API, as documented: scopes, parameters, statuses, error bodies.

Source: docs.joinmastodon.org, methods/accounts, instance, media, statuses; api/oauth-scopes. The words of errors that
it does not quote are those that clients report.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.mastodon_accounts import MastodonStore, Person, Upload
from tests.fakes.mastodon_polls import Poll, PollLimits, read_poll
from tests.fakes.mastodon_requests import Refusal, bearer_of, call_of, id_in, multipart, parameters
from tests.fakes.mastodon_text import length

VERIFY = "GET /api/v1/accounts/verify_credentials"
SEARCH = "GET /api/v1/accounts/search"
LIST = "GET /api/v1/accounts/:id/statuses"
INSTANCE, OLD_INSTANCE = "GET /api/v2/instance", "GET /api/v1/instance"
UPLOAD, LOOK_AT_MEDIA = "POST /api/v2/media", "GET /api/v1/media/:id"
CREATE, SOURCE = "POST /api/v1/statuses", "GET /api/v1/statuses/:id/source"

IMAGES = frozenset({"image/jpeg", "image/png", "image/webp", "image/avif", "image/heic", "image/heif"})
VIDEOS = frozenset({"video/mp4", "video/quicktime", "video/webm", "video/ogg"})
# Each method takes a token with any of its scopes, or with the wide one that holds it.
SCOPES_OF = {
    VERIFY: ("read:accounts", "profile"),
    SEARCH: ("read:accounts",),
    LIST: ("read:statuses",),
    UPLOAD: ("write:media",),
    LOOK_AT_MEDIA: ("write:media",),
    CREATE: ("write:statuses",),
    SOURCE: ("read:statuses",),
}
VISIBILITIES = frozenset({"public", "unlisted", "private", "direct"})
REGIONAL_LANGUAGES = frozenset({"zh-CN", "zh-HK", "zh-TW", "zh-YUE"})  # mastodon/mastodon, LanguagesHelper
KEY_KEPT = timedelta(hours=1)


class MastodonMethods:
    """The methods of Mastodon's API over one store, with switches for differences between servers."""

    def __init__(self, origin: str, *, honours_idempotency_key: bool, returns_source: bool, lists_private: bool) -> None:
        self.store = MastodonStore(origin)
        self.honours_idempotency_key = honours_idempotency_key
        self.returns_source = returns_source
        self.lists_private = lists_private
        self.instance_versions = {"v2", "v1"}
        self.max_characters = 500
        self.poll_limits = PollLimits()
        self.processing: tuple[int, bool] = (0, False)  # checks until the next videos are processed, and whether they fail
        self.endpoints: dict[str, Callable[[ReceivedRequest], Answer]] = {
            VERIFY: self.verify_credentials,
            SEARCH: self.search_accounts,
            LIST: self.account_statuses,
            INSTANCE: self.instance,
            OLD_INSTANCE: self.old_instance,
            UPLOAD: self.upload,
            LOOK_AT_MEDIA: self.look_at_media,
            CREATE: self.create,
            SOURCE: self.source,
        }

    def perform(self, request: ReceivedRequest) -> Answer:
        """Answer a request to Mastodon's API."""
        endpoint = self.endpoints.get(call_of(request))
        try:
            if endpoint is None:
                raise Refusal(404, "The requested resource could not be found")
            return endpoint(request)
        except Refusal as refusal:
            return refusal.answer()

    # accounts

    def verify_credentials(self, request: ReceivedRequest) -> Answer:
        person = self._authorized(request)
        entity = self.store.account_entity(person)
        privacy = {"privacy": person.visibility} if person.visibility else {}
        return Answer.of_json({**entity, "source": {**privacy, "sensitive": False, "language": "en"}})

    def search_accounts(self, request: ReceivedRequest) -> Answer:
        """Return the accounts that the Mastodon server knows and whose address or name has the text `q`."""
        self._authorized(request)
        wanted = request.query.get("q", "").removeprefix("@").lower()
        known = [self.store.account_entity(person) for person in (*self.store.people.values(), *self.store.remote)]
        found = [each for each in known if wanted and wanted in f"{each['acct']} {each['display_name']}".lower()]
        return Answer.of_json(found[: min(int(request.query.get("limit", "40")), 80)])

    def account_statuses(self, request: ReceivedRequest) -> Answer:
        """Return a Mastodon account's statuses, newest first: all to the owner, public ones to others."""
        reader = self._authorized(request, functional=False)
        found = self.store.statuses_of(id_in(request))
        if not any(person.id == id_in(request) for person in self.store.people.values()):
            raise Refusal(404, "Record not found")
        if reader.id != id_in(request) or not self.lists_private:
            found = [status for status in found if status.visibility in ("public", "unlisted")]
        if request.query.get("exclude_reblogs") == "true":
            found = [status for status in found if not status.reblog_of]
        for name, is_within in (("max_id", int.__lt__), ("since_id", int.__gt__), ("min_id", int.__gt__)):
            if name in request.query:
                found = [status for status in found if is_within(int(status.id), int(request.query[name]))]
        limit = min(int(request.query.get("limit", "20")), 40)
        page = found[:limit] if "min_id" in request.query else found[-limit:]
        return Answer.of_json([self.store.status_entity(status) for status in reversed(page)])

    # the instance

    def instance(self, request: ReceivedRequest) -> Answer:
        return self._instance("v2")

    def old_instance(self, request: ReceivedRequest) -> Answer:
        return self._instance("v1")

    def _instance(self, version: str) -> Answer:
        if version not in self.instance_versions:
            raise Refusal(404, "The requested resource could not be found")
        statuses = {"max_characters": self.max_characters, "max_media_attachments": 4, "characters_reserved_per_url": 23}
        media = {
            "supported_mime_types": sorted({*IMAGES, *VIDEOS, "image/gif"}),
            "description_limit": 1500,
            "image_size_limit": 16_777_216,
            "image_matrix_limit": 33_177_600,
            "video_size_limit": 103_809_024,
            "video_frame_rate_limit": 120,
            "video_matrix_limit": 8_294_400,
        }
        polls = asdict(self.poll_limits)
        configuration = {"statuses": statuses, "media_attachments": media, "polls": polls}
        named = {"domain": "127.0.0.1", "api_versions": {"mastodon": 7}} if version == "v2" else {"uri": "127.0.0.1"}
        return Answer.of_json({**named, "title": "Mastodon", "version": "4.5.0", "configuration": configuration})

    # media

    def upload(self, request: ReceivedRequest) -> Answer:
        """Accept a Mastodon upload; an image is processed at once, a video or an animation later."""
        person = self._authorized(request)
        fields, file = multipart(request)
        if file is None:
            raise Refusal(422, "Validation failed: File can't be blank")
        mime_type, content = file
        if mime_type not in {*IMAGES, *VIDEOS, "image/gif"}:
            raise Refusal(422, "Validation failed: File content type is invalid, File is invalid")
        if len(fields.get("description", "")) > 1500:
            raise Refusal(422, "Validation failed: Description is too long (maximum is 1500 characters)")
        upload = self.add_upload(person, mime_type, content, fields.get("description"))
        return Answer.of_json(self.store.upload_entity(upload), 202 if upload.checks_left or upload.failed else 200)

    def add_upload(self, person: Person, mime_type: str, content: bytes, description: str | None = None) -> Upload:
        """Store a file of the Mastodon stand-in."""
        kind = "image" if mime_type in IMAGES else "gifv" if mime_type == "image/gif" else "video"
        checks, failed = (0, False) if kind == "image" else self.processing
        upload = Upload(self.store.new_id(), person.id, kind, mime_type, content, description, checks, failed)
        self.store.uploads[upload.id] = upload
        return upload

    def look_at_media(self, request: ReceivedRequest) -> Answer:
        """Return a Mastodon upload that no status uses; each check advances the processing."""
        person = self._authorized(request)
        upload = self.store.uploads.get(id_in(request))
        if upload is None or upload.owner != person.id or upload.status_id:
            raise Refusal(404, "Record not found")
        if upload.checks_left:
            upload.checks_left -= 1
            return Answer.of_json({**self.store.upload_entity(upload), "url": None}, 206)
        if upload.failed:
            raise Refusal(422, "Error processing thumbnail for uploaded media")
        return Answer.of_json(self.store.upload_entity(upload))

    # statuses

    def create(self, request: ReceivedRequest) -> Answer:
        person = self._authorized(request)
        key = request.headers.get("idempotency-key")
        if key and self.honours_idempotency_key and (made := self._made_with(person, key)):
            return Answer.of_json(self.store.status_entity(made))
        given = parameters(request)
        text, spoiler_text = str(given.get("status") or "").strip(), str(given.get("spoiler_text") or "").strip()
        media = self._attachable(person, given.get("media_ids") or [])
        if not text and not media and not spoiler_text:
            raise Refusal(422, "Validation failed: Text can't be blank")
        if length(spoiler_text, text) > self.max_characters:
            raise Refusal(422, f"Validation failed: Text character limit of {self.max_characters} exceeded")
        if not text and spoiler_text:
            text, spoiler_text = spoiler_text, ""
        poll = self._poll(given.get("poll"), media)
        parent = given.get("in_reply_to_id")
        if parent is not None and str(parent) not in self.store.statuses:
            raise Refusal(404, "The post you are trying to reply to does not appear to exist.")
        status = self.store.add_status(
            person,
            text,
            spoiler_text=spoiler_text,
            visibility=_one_of(given.get("visibility") or person.visibility or "public", VISIBILITIES),
            sensitive=bool(given.get("sensitive")) or bool(spoiler_text),
            language=_language(given.get("language")),
            media=[upload.id for upload in media],
            poll=poll,
            idempotency_key=key,
            in_reply_to_id=str(parent) if parent is not None else None,
        )
        return Answer.of_json(self.store.status_entity(status))

    def source(self, request: ReceivedRequest) -> Answer:
        """Return the text of a Mastodon status as it was posted, for its author."""
        person = self._authorized(request)
        status = self.store.statuses.get(id_in(request))
        if not self.returns_source or status is None or status.owner != person.id:
            raise Refusal(404, "Record not found")
        return Answer.of_json({"id": status.id, "text": status.text, "spoiler_text": status.spoiler_text})

    def _poll(self, given: Any, media: list[Upload]) -> Poll | None:
        if given is None:
            return None
        if media:
            raise Refusal(422, "Cannot attach a video to a post that already contains images")
        poll = read_poll(given, self.poll_limits)
        if isinstance(poll, str):
            raise Refusal(422, f"Validation failed: {poll}")
        return poll

    def _made_with(self, person: Person, key: str) -> Any:
        since = datetime.now(UTC) - KEY_KEPT
        mine = self.store.statuses_of(person.id)
        return next((each for each in mine if each.idempotency_key == key and each.created_at > since), None)

    def _attachable(self, person: Person, identifiers: list[str]) -> list[Upload]:
        if len(identifiers) > 4:
            raise Refusal(422, "Cannot attach more than 4 files")
        uploads = [self.store.uploads.get(str(identifier)) for identifier in identifiers]
        found = [each for each in uploads if each and each.owner == person.id and not each.status_id]
        if len(found) < len(identifiers):
            missing = ", ".join(sorted({*identifiers} - {each.id for each in found}))
            raise Refusal(422, f"Media {missing} not found or already attached to another post")
        if len(found) > 1 and any(each.kind != "image" for each in found):
            raise Refusal(422, "Cannot attach a video to a post that already contains images")
        if any(each.checks_left or each.failed for each in found):
            raise Refusal(422, "Cannot attach files that have not finished processing. Try again in a moment!")
        return found

    def _authorized(self, request: ReceivedRequest, *, functional: bool = True) -> Person:
        """The Mastodon account of the token. Raises Refusal unless the token has a scope of the method."""
        token = bearer_of(request)
        person = self.store.owner_of(token)
        if person is None:
            raise Refusal(401, "The access token is invalid")
        if not person.tokens[token] & _with_wide(SCOPES_OF[call_of(request)]):
            raise Refusal(403, "This action is outside the authorized scopes")
        if functional and person.disabled:
            raise Refusal(403, "Your login is currently disabled")
        return person


def _with_wide(scopes: tuple[str, ...]) -> set[str]:
    """These Mastodon scopes, and those that include them, as `read` includes `read:statuses`."""
    return {*scopes, *(scope.partition(":")[0] for scope in scopes)}


def _one_of(value: Any, allowed: frozenset[str]) -> str:
    if value not in allowed:
        raise Refusal(422, f"'{value}' is not a valid visibility")
    return str(value)


def _language(value: str | None) -> str:
    """The language that Mastodon stores: mostly without its region; the server's own if the status names none."""
    return value if value in REGIONAL_LANGUAGES else re.split("[_-]", value or "en")[0]
