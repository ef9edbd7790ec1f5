"""A stand-in of a Takahe server 0.11, whose version of Mastodon's API differs.

Source: jointakahe/takahe: api/middleware.py, api/decorators.py, api/models/token.py, api/views (accounts, apps, instance,
media, oauth, statuses), users/views/activitypub.py, takahe/urls.py. What it does unlike Mastodon:

- A token that is unknown or revoked is refused before anything else, at every address: 400 and plain text.
- It knows only wide scopes. It grants and records whatever it is asked for, but its method for the account's own identity
  takes only tokens that hold `read` itself. Its other methods take narrow scopes, too.
- It has no metadata of its authorization server, checks no PKCE, and its codes are valid for a minute.
- It never lists private and direct statuses, ignores the Idempotency-Key and languages, counts a text by code points, and
  takes no videos, and checks nothing of a poll. A status may reply to one that is not there, and take up media that another
  one has.

What it renders as HTML is rendered as by Mastodon.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_accounts import Person
from tests.fakes.mastodon_documents import Documents
from tests.fakes.mastodon_methods import CREATE, IMAGES, LIST, LOOK_AT_MEDIA, SEARCH, SOURCE, UPLOAD, VERIFY, MastodonMethods
from tests.fakes.mastodon_oauth import Application, Code, MastodonOAuth
from tests.fakes.mastodon_polls import Poll
from tests.fakes.mastodon_requests import Refusal, bearer_of, call_of, multipart, parameters

VERSION = "0.11.0"
CODE_LIFETIME = timedelta(seconds=60)
NOT_FOUND, SERVER_ERROR = Answer(404, b"<h1>Not Found</h1>"), Answer(500, b"<h1>Server Error (500)</h1>")
INVALID_BEARER = Answer(400, b"Invalid Bearer token", {"Content-Type": "text/html; charset=utf-8"})

# A token needs the scope itself or its first part.
SCOPE_OF = {
    VERIFY: "read",
    SEARCH: "read:accounts",
    LIST: "read:statuses",
    UPLOAD: "write:media",
    LOOK_AT_MEDIA: "read:media",
    CREATE: "write:statuses",
    SOURCE: "read:statuses",
}


class TakaheMethods(MastodonMethods):
    """The methods of Mastodon's API as Takahe implements them."""

    def perform(self, request: ReceivedRequest) -> Answer:
        """Answer a request to Takahe; the token is checked before the path."""
        token = bearer_of(request)
        if token and self.store.owner_of(token) is None:
            return INVALID_BEARER
        if call_of(request) not in self.endpoints:
            return NOT_FOUND
        return super().perform(request)

    def upload(self, request: ReceivedRequest) -> Answer:
        person = self._authorized(request)
        fields, file = multipart(request)
        if file is None:
            raise Refusal(400, "invalid_input")
        mime_type, content = file
        if mime_type not in IMAGES | {"image/gif"}:
            return SERVER_ERROR
        upload = self.add_upload(person, "image/webp", content, fields.get("description"))
        return Answer.of_json(self.store.upload_entity(upload))

    def create(self, request: ReceivedRequest) -> Answer:
        person = self._authorized(request)
        given = parameters(request)
        text = given.get("status")
        if not isinstance(text, str):
            raise Refusal(400, "invalid_input")
        if len(text) > self.max_characters:
            raise Refusal(400, "Status is too long")
        media = given.get("media_ids") or []
        if not text and not media:
            raise Refusal(400, "Status is empty")
        if not set(media) <= set(self.store.uploads):
            return NOT_FOUND
        parent = given.get("in_reply_to_id")
        status = self.store.add_status(
            person,
            text,
            spoiler_text=given.get("spoiler_text") or "",
            visibility=given.get("visibility") or person.visibility,
            sensitive=bool(given.get("sensitive")),
            language=None,
            media=list(media),
            poll=_poll(given.get("poll")),
            in_reply_to_id=parent if parent in self.store.statuses else None,
        )
        return Answer.of_json(self.store.status_entity(status))

    def _instance(self, version: str) -> Answer:
        statuses = {"max_characters": self.max_characters, "max_media_attachments": 4, "characters_reserved_per_url": 23}
        media: dict[str, Any] = {
            "supported_mime_types": sorted({*IMAGES, "image/gif"} - {"image/heic", "image/heif"}),
            "image_size_limit": 10 * 1024**2,
            "image_matrix_limit": 4_000_000,
            **({"video_size_limit": 0} if version == "v2" else {}),
        }
        configuration = {"statuses": statuses, "media_attachments": media}
        return Answer.of_json({"title": "Takahe", "version": f"takahe/{VERSION}", "configuration": configuration})

    def _authorized(self, request: ReceivedRequest, *, functional: bool = True) -> Person:
        token = bearer_of(request)
        person = self.store.owner_of(token)
        if person is None:
            raise Refusal(401, "identity_token_required")
        scope = SCOPE_OF[call_of(request)]
        if not person.tokens[token] & {scope, scope.partition(":")[0]}:
            raise Refusal(403, "out_of_scope_for_token")
        return person


def _poll(given: Any) -> Poll | None:
    """The poll of a Takahe status; Takahe checks neither choices nor duration."""
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("options"), list) or "expires_in" not in given:
        raise Refusal(400, "invalid_input")
    choices = tuple(str(option) for option in given["options"])
    return Poll(choices, int(given["expires_in"]), bool(given.get("multiple")), bool(given.get("hide_totals")))


class TakaheOAuth(MastodonOAuth):
    """The OAuth applications and grants of the Takahe stand-in."""

    def may_ask(self, application: Application, scopes: tuple[str, ...]) -> bool:
        return True

    def token(self, request: ReceivedRequest) -> Answer:
        """Exchange a Takahe code: valid once, for a minute, for its application and redirect URI.

        For a code that does not exist Takahe answers 500."""
        given = parameters(request)
        if given.get("grant_type") != "authorization_code":
            raise Refusal(400, "invalid_grant_type")
        code = self.codes.get(str(given.get("code")))
        if code is None:
            return SERVER_ERROR
        application = self.applications.get(str(given.get("client_id")))
        is_authenticated = application is not None and application.client_secret == given.get("client_secret")
        late = datetime.now(UTC) - code.granted_at > CODE_LIFETIME
        if not is_authenticated or late or code.used or not _is_for(code, given):
            raise Refusal(401, "access_denied")
        code.used = True
        return self.issue(code)

    def revoke(self, request: ReceivedRequest) -> Answer:
        given = parameters(request)
        application = self.applications.get(str(given.get("client_id")))
        is_authenticated = application is not None and application.client_secret == given.get("client_secret")
        token = str(given.get("token"))
        if not is_authenticated or self.made_for.get(token) != given.get("client_id"):
            return Answer(403)
        for person in self.store.people.values():
            person.tokens.pop(token, None)
        return Answer(200)


class FakeTakahe(FakeMastodon):
    """A Takahe server on loopback, with the methods of the Mastodon stand-in."""

    methods_class = TakaheMethods
    oauth_class = TakaheOAuth

    def __init__(self) -> None:
        super().__init__(honours_idempotency_key=False, lists_private=False)

    def documents(self) -> Documents:
        return Documents(self.url, "takahe", VERSION)

    def server_error(self, status: int) -> Answer:
        return Answer(status, SERVER_ERROR.body)

    def perform(self, request: ReceivedRequest) -> Answer:
        """Return the response unchanged: Takahe has no rate limit."""
        return self._methods.perform(request)


def _is_for(code: Code, given: dict[str, Any]) -> bool:
    return (code.client_id, code.redirect_uri) == (given.get("client_id"), given.get("redirect_uri"))
