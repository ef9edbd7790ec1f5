"""A stand-in of Pinterest's API v5, of its storage for videos and of its page of consent, for one app.

Written from github.com/pinterest/api-description 5.23: user_account, boards, media, pins, and the schemas' limits.

    with FakePinterest() as pinterest:
        pinterest.add_person("alice")
        pinterest.add_boards("alice", "Recipes")
        code = pinterest.grant(authorization_url, "alice")
        pinterest.drop_next(CREATE)
        ...
        assert [pin["description"] for pin in pinterest.pins("alice")] == ["Hello"]
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from requests_toolbelt.multipart.decoder import MultipartDecoder

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.pinterest_oauth import PinterestOAuth, Refused

TOKEN, REVOKE = "POST /v5/oauth/token", "POST /v5/oauth/token/revoke"
ME, BOARDS, CREATE = "GET /v5/user_account", "GET /v5/boards", "POST /v5/pins"
ANNOUNCE, STORE, STATUS = "POST /v5/media", "POST /storage", "GET /v5/media/:id"
SCOPES = {ME: "user_accounts:read", BOARDS: "boards:read", CREATE: "pins:write", ANNOUNCE: "pins:write", STATUS: "pins:read"}
LIMITS = {"title": 100, "description": 800, "link": 2048, "alt_text": 500}
PROPERTIES = {*LIMITS, "board_id", "board_section_id", "media_source"}

_ID = re.compile(r"/\d+$")
_NAMED = re.compile(r'name="([^"]*)"')


@dataclass
class Person:
    """A Pinterest account; `boards` are its boards' names by their ids."""

    id: str
    username: str
    boards: dict[str, str] = field(default_factory=dict)
    suspended: bool = False
    pins: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Upload:
    """A video that was announced to Pinterest; `checks_left`: how many status checks still find it unprocessed."""

    owner: str
    key: str
    content: bytes | None = None
    checks_left: int = 0
    fails: bool = False


class FakePinterest(FaultyServer):
    """Pinterest's API on loopback; tests add accounts and boards, grant access, set faults and read the created pins."""

    platform = "pinterest"
    calls = frozenset({TOKEN, REVOKE, STORE, *SCOPES})

    def __init__(self) -> None:
        super().__init__()
        self._people: dict[str, Person] = {}
        self._uploads: dict[str, Upload] = {}
        self._numbers = itertools.count(549_755_885_175)
        self._oauth = PinterestOAuth(self.url)
        self._processing = (0, False)

    # what a test arranges

    @property
    def api_base(self) -> str:
        """The address of the stand-in in place of https://api.pinterest.com/v5."""
        return f"{self.url}/v5"

    def add_person(self, username: str) -> None:
        """Add a Pinterest account."""
        with self._lock:
            self._people[username] = Person(str(next(self._numbers)), username)

    def add_boards(self, username: str, *names: str) -> dict[str, str]:
        """Add boards to a Pinterest account; return their ids by name."""
        with self._lock:
            added = {name: str(next(self._numbers)) for name in names}
            self._people[username].boards |= {board_id: name for name, board_id in added.items()}
            return added

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the settings of the app at Pinterest."""
        self._oauth.redirect_uris.add(uri)

    def grant(self, authorization_url: str, username: str, scopes: Iterable[str] | None = None) -> str:
        """Grant the app access to a Pinterest account, with the requested scopes or only these; return the code.

        Raises ValueError if Pinterest would show an error.
        """
        with self._lock:
            return self._oauth.grant(authorization_url, username, scopes)

    def withdraw(self, username: str) -> None:
        """Revoke the app's access to the Pinterest account."""
        with self._lock:
            self._oauth.withdraw(username)

    def suspend(self, username: str) -> None:
        """Suspend the Pinterest account."""
        with self._lock:
            self._people[username].suspended = True

    def process_videos(self, checks: int, *, fail: bool = False) -> None:
        """Process new videos of Pinterest for so many checks of their status, then finish or fail."""
        self._processing = (checks, fail)

    def forget_videos(self) -> None:
        """Delete the videos that no Pinterest pin uses."""
        with self._lock:
            self._uploads.clear()

    def rate_limit_next(self, call: str, seconds: int) -> None:
        """Answer the next such call to Pinterest with 429."""
        body = {"code": 8, "message": "You have exceeded your rate limit. Try again later."}
        headers = {"x-ratelimit-limit": "100", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(seconds)}
        self.refuse_next(call, Answer.of_json(body, 429, headers))

    # what a test reads

    def refresh_tokens(self, username: str) -> list[str]:
        """The valid refresh tokens of the Pinterest account."""
        with self._lock:
            return [token for token, access in self._oauth.refresh.items() if access.username == username]

    def access_tokens(self, username: str) -> list[str]:
        """The access tokens of the Pinterest account that were not revoked."""
        with self._lock:
            return [token for token, access in self._oauth.access.items() if access.username == username]

    def pins(self, username: str) -> list[dict[str, Any]]:
        """The pins of the Pinterest account as they were sent, with `files` as (mime type, bytes) and a video's `cover`."""
        with self._lock:
            return list(self._people[username].pins)

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The method and path of a request to Pinterest, an id at its end replaced by `:id`."""
        return f"{request.method} {_ID.sub('/:id', request.path)}"

    def server_error(self, status: int) -> Answer:
        return Answer.of_json({"code": 500, "message": "Something went wrong on our end."}, status)

    def perform(self, request: ReceivedRequest) -> Answer:
        try:
            return self._perform(request)
        except Refused as refused:
            return refused.answer()

    def _perform(self, request: ReceivedRequest) -> Answer:
        call = self.call_of(request)
        if call == TOKEN:
            return Answer.of_json(self._oauth.token(request))
        if call == REVOKE:
            self._oauth.revoke(request)
            return Answer(204)
        if call == STORE:
            return self._store(request)
        if call not in SCOPES:
            raise Refused(404, 40, "There is no such endpoint.")
        person = self._people[self._oauth.opened_by(request, SCOPES[call]).username]
        if person.suspended:
            raise Refused(403, 5, "This user account is suspended.")
        if call == ME:
            picture = f"https://i.pinimg.com/600x/{person.id}.jpg"
            user = {"id": person.id, "username": person.username, "account_type": "BUSINESS", "profile_image": picture}
            return Answer.of_json({**user, "business_name": person.username.title()})
        if call == BOARDS:
            return self._boards(person, request.query)
        if call == STATUS:
            return self._look(person, request.path.rpartition("/")[2])
        given = request.json()
        if call == ANNOUNCE:
            return self._announce(person, given)
        return Answer.of_json({"id": self._pin(person, given)}, 201)

    def _boards(self, person: Person, query: Any) -> Answer:
        size, start = int(query.get("page_size", "25")), int(query.get("bookmark", "0"))
        if not 1 <= size <= 250:
            raise Refused(400, 1, f"{size} is greater than the maximum of 250")
        boards = [{"id": board_id, "name": name, "privacy": "PUBLIC"} for board_id, name in person.boards.items()]
        following = str(start + size) if start + size < len(boards) else None
        return Answer.of_json({"items": boards[start : start + size], "bookmark": following})

    def _announce(self, person: Person, given: Any) -> Answer:
        if given != {"media_type": "video"}:
            raise Refused(400, 1, "Invalid request: media_type has to be video.")
        media_id = str(next(self._numbers))
        key = f"uploads/{media_id}:video"
        checks, fails = self._processing
        self._uploads[media_id] = Upload(person.username, key, checks_left=checks, fails=fails)
        fields = {"Content-Type": "multipart/form-data", "key": key, "policy": "eyJ=", "x-amz-signature": "fcd6"}
        upload = {"media_id": media_id, "media_type": "video"}
        return Answer.of_json({**upload, "upload_url": f"{self.url}/storage", "upload_parameters": fields}, 201)

    def _store(self, request: ReceivedRequest) -> Answer:
        """Store a video as Pinterest's storage does: without the API's token, with the fields first and the file last."""
        content_type = request.headers.get("content-type", "")
        if "authorization" in request.headers or not content_type.startswith("multipart/form-data; boundary="):
            return Answer(400, b"<Error><Code>InvalidArgument</Code></Error>")
        names, contents = [], []
        for part in MultipartDecoder(request.body, content_type).parts:
            named = _NAMED.search(part.headers[b"Content-Disposition"].decode())
            names.append(named[1] if named else "")
            contents.append(part.content)
        found = [
            each
            for each in self._uploads.values()
            if names == ["Content-Type", "key", "policy", "x-amz-signature", "file"] and each.key.encode() == contents[1]
        ]
        if not found:
            return Answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        found[0].content = contents[-1]
        return Answer(204)

    def _look(self, person: Person, media_id: str) -> Answer:
        upload = self._upload(person, media_id)
        status = "registered" if upload.content is None else "processing" if upload.checks_left else "succeeded"
        upload.checks_left = max(upload.checks_left - 1, 0)
        status = "failed" if status == "succeeded" and upload.fails else status
        return Answer.of_json({"media_id": media_id, "media_type": "video", "status": status})

    def _upload(self, person: Person, media_id: str) -> Upload:
        upload = self._uploads.get(media_id)
        if upload is None or upload.owner != person.username:
            raise Refused(404, 40, "The media upload was not found.")
        return upload

    def _pin(self, person: Person, given: dict[str, Any]) -> str:
        if unknown := set(given) - PROPERTIES:
            raise Refused(400, 1, f"Additional properties are not allowed: {unknown.pop()}")
        for name, limit in LIMITS.items():
            if len(given.get(name, "")) > limit:
                raise Refused(400, 1, f"Invalid request: {name} is too long.")
        if given.get("board_id") not in person.boards:
            raise Refused(404, 40, "Board not found.")
        source = dict(given["media_source"])
        kind, cover, files = source.pop("source_type"), None, []
        if kind == "image_base64":
            files = [_image(source)]
        elif kind == "multiple_image_base64" and source.pop("index") == 0 and 2 <= len(source["items"]) <= 5:
            files = [_image(each) for each in source["items"]]
        elif kind == "video_id":
            upload = self._upload(person, str(source.pop("media_id")))
            if upload.content is None or upload.checks_left or upload.fails or len(source) != 1:
                raise Refused(400, 1, "The media is not ready, or its cover image is missing.")
            [cover], files = source.items(), [("video", upload.content)]
        else:
            raise Refused(400, 1, "Invalid request: media_source is not valid.")
        pin_id = str(next(self._numbers))
        fields = {name: value for name, value in given.items() if name != "media_source"}
        person.pins.append({"id": pin_id, **fields, "files": files, "cover": cover})
        return pin_id


def _image(given: dict[str, Any]) -> tuple[str, bytes]:
    if set(given) != {"content_type", "data"} or given["content_type"] not in ("image/jpeg", "image/png"):
        raise Refused(400, 1, "Invalid request: the image is not valid.")
    return given["content_type"], base64.b64decode(given["data"], validate=True)
