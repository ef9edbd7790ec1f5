"""A stand-in of a Mastodon server 4.5, for the accounts that live there; it speaks with no other server.

Written from docs.joinmastodon.org; `mastodon_methods` says what is from elsewhere.

    with FakeMastodon() as mastodon:
        token = mastodon.add_account("alice")
        mastodon.drop_next(CREATE)
        ...
        assert len(mastodon.statuses("alice")) == 1

Calls are named by method and path, such as `GET /api/v1/media/:id`; the constants of `mastodon_methods` hold them.
Switches: a server that ignores the Idempotency-Key (all software but Mastodon itself), one that does not return the source
of a status (Mastodon before 3.5), one that never lists private and direct statuses (Takahe).
`mastodon_takahe` is a server with other software.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest
from tests.fakes.mastodon_accounts import Person
from tests.fakes.mastodon_documents import SCOPES as SUPPORTED
from tests.fakes.mastodon_documents import Documents
from tests.fakes.mastodon_methods import MastodonMethods
from tests.fakes.mastodon_oauth import Application, MastodonOAuth
from tests.fakes.mastodon_polls import PollLimits
from tests.fakes.mastodon_requests import Refusal, call_of
from tests.media.pictures import png

SCOPES = ("read", "write")
RATE_LIMIT = 300  # requests in RATE_WINDOW, for each account
RATE_WINDOW = timedelta(minutes=5)


class FakeMastodon(FaultyServer):
    """A Mastodon server on loopback; tests add accounts, set faults and read the statuses that were accepted."""

    platform = "mastodon"
    methods_class: ClassVar[type[MastodonMethods]] = MastodonMethods
    oauth_class: ClassVar[type[MastodonOAuth]] = MastodonOAuth

    def __init__(
        self, *, honours_idempotency_key: bool = True, returns_source: bool = True, lists_private: bool = True
    ) -> None:
        super().__init__()
        self._methods = self.methods_class(
            self.url,
            honours_idempotency_key=honours_idempotency_key,
            returns_source=returns_source,
            lists_private=lists_private,
        )
        self._store = self._methods.store
        self._oauth = self.oauth_class(self._store)
        self._methods.endpoints |= self._oauth.endpoints | self.documents().endpoints
        self.calls = frozenset(self._methods.endpoints)
        self._limited: timedelta | None = None

    def documents(self) -> Documents:
        """The documents that name the Mastodon server's software, version and scopes."""
        return Documents(self.url, "mastodon", "4.5.0", scopes=SUPPORTED)

    # what a test arranges

    def hide(self, *calls: str) -> None:
        """Answer 404 to these calls, as a Mastodon server without them."""
        with self._lock:
            for call in calls:
                del self._methods.endpoints[call]

    def add_account(self, username: str, scopes: Iterable[str] = SCOPES) -> str:
        """Add a Mastodon account; return a token of it."""
        with self._lock:
            self._store.add_person(username)
        return self.issue_token(username, scopes)

    def know(self, username: str, host: str) -> None:
        """Let the Mastodon server know an account of another server."""
        with self._lock:
            self._store.remote.append(Person(self._store.new_id(), username, host))

    def issue_token(self, username: str, scopes: Iterable[str] = SCOPES) -> str:
        """Add another token of a Mastodon account; return it."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._store.person(username).tokens[token] = frozenset(scopes)
        return token

    def grant(self, address: str, username: str) -> str:
        """Grant an application access to a Mastodon account; return the code.

        Raises ValueError if the consent page would show an error."""
        with self._lock:
            return self._oauth.grant(address, username)

    def delete_applications(self) -> None:
        """Delete the registered applications, as Mastodon before 4.3 does with unused ones."""
        with self._lock:
            self._oauth.applications.clear()

    def close_registration(self) -> None:
        """Refuse to register applications at the Mastodon server."""
        with self._lock:
            self._oauth.closed = True

    def revoke_tokens(self, username: str) -> None:
        """Revoke all tokens of the Mastodon account."""
        with self._lock:
            self._store.person(username).tokens.clear()

    def disable(self, username: str) -> None:
        """Disable the sign-in of the Mastodon account, as moderators do."""
        with self._lock:
            self._store.person(username).disabled = True

    def list_no_private(self) -> None:
        """Omit private and direct statuses from the Mastodon server's lists, even for their author."""
        with self._lock:
            self._methods.lists_private = False

    def default_visibility(self, username: str, visibility: str | None) -> None:
        """Set the default visibility of the Mastodon account's statuses; None if the server does not return it."""
        with self._lock:
            self._store.person(username).visibility = visibility

    def set_max_characters(self, number: int) -> None:
        """Set the maximum length of a text that the Mastodon server accepts and announces."""
        with self._lock:
            self._methods.max_characters = number

    def set_poll_limits(self, limits: PollLimits) -> None:
        """Set the limits of polls that the Mastodon server accepts and announces."""
        with self._lock:
            self._methods.poll_limits = limits

    def answer_instance_at(self, *versions: str) -> None:
        """Answer only these versions of Mastodon's instance method, `v2` and `v1`."""
        with self._lock:
            self._methods.instance_versions = set(versions)

    def process_videos(self, checks: int, *, fail: bool = False) -> None:
        """Process new videos and animations of the Mastodon server during so many checks, then finish or fail."""
        with self._lock:
            self._methods.processing = (checks, fail)

    def unprocess(self, media_id: str, checks: int) -> None:
        """Set a Mastodon upload back to processing, as on a server whose nodes do not agree."""
        with self._lock:
            self._store.uploads[media_id].checks_left = checks

    def remove_unattached_media(self) -> None:
        """Delete the uploads that no Mastodon status uses, as happens after a day."""
        with self._lock:
            uploads = self._store.uploads
            for upload in [each for each in uploads.values() if each.status_id is None]:
                del uploads[upload.id]

    def post(self, username: str, text: str, **fields: Any) -> str:
        """Create a Mastodon status with the server's own client; return its id."""
        with self._lock:
            return self._store.add_status(self._store.person(username), text, **fields).id

    def edit(self, status_id: str, text: str) -> None:
        """Edit a Mastodon status."""
        with self._lock:
            status = self._store.statuses[status_id]
            status.text, status.edited_at = text, datetime.now(UTC)

    def delete(self, status_id: str) -> None:
        """Delete a Mastodon status."""
        with self._lock:
            del self._store.statuses[status_id]

    def upload(self, username: str) -> str:
        """Upload an image with the Mastodon server's own client; return its id."""
        with self._lock:
            return self._methods.add_upload(self._store.person(username), "image/png", b"png").id

    def rate_limit_next(self, reset: timedelta) -> None:
        """Answer the next request to the Mastodon server with 429 and a reset time that is this far ahead."""
        with self._lock:
            self._limited = reset

    # what a test reads

    def applications(self) -> list[Application]:
        """The applications that were registered at the Mastodon server, in order."""
        with self._lock:
            return list(self._oauth.applications.values())

    def tokens_of(self, username: str) -> dict[str, frozenset[str]]:
        """The valid tokens of a Mastodon account, with their scopes."""
        with self._lock:
            return dict(self._store.person(username).tokens)

    def account_id(self, username: str) -> str:
        return self._store.person(username).id

    def statuses(self, username: str) -> list[dict[str, Any]]:
        """The statuses of a Mastodon account in order of creation, as they were sent, with their uploads."""
        with self._lock:
            return [
                {
                    "id": status.id,
                    "text": status.text,
                    "spoiler_text": status.spoiler_text,
                    "visibility": status.visibility,
                    "sensitive": status.sensitive,
                    "language": status.language,
                    "media": list(status.media),
                    "poll": status.poll,
                    "in_reply_to_id": status.in_reply_to_id,
                }
                for status in self._store.statuses_of(self._store.person(username).id)
            ]

    def uploads(self, username: str) -> list[dict[str, Any]]:
        """The uploads of a Mastodon account in order, including those that no status uses."""
        with self._lock:
            return [
                {"id": upload.id, "mime_type": upload.mime_type, "content": upload.content, "description": upload.description}
                for upload in self._store.uploads.values()
                if upload.owner == self._store.person(username).id
            ]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The method and path of a request to the Mastodon server, ids replaced by `:id`."""
        return call_of(request)

    def server_error(self, status: int) -> Answer:
        return Refusal(status, "There was a temporary problem serving your request, please try again").answer()

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Answer a request to the Mastodon server; the rate limit is checked first."""
        with self._lock:
            limited, self._limited = self._limited, None
        if limited is not None:
            return _with(Refusal(429, "Too many requests").answer(), 0, limited)
        return super().answer(request)

    def perform(self, request: ReceivedRequest) -> Answer:
        if request.path == "/avatars/static/missing.png":
            return Answer(200, png(400, 400, colour="mediumslateblue"), {"Content-Type": "image/png"})
        return _with(self._methods.perform(request), RATE_LIMIT - len(self.requests), RATE_WINDOW)


def _with(answer: Answer, remaining: int, reset: timedelta) -> Answer:
    """The Mastodon server's response with the headers of the rate limit."""
    moment = (datetime.now(UTC) + reset).isoformat(timespec="microseconds").replace("+00:00", "Z")
    limit = {"X-RateLimit-Limit": str(RATE_LIMIT), "X-RateLimit-Remaining": str(remaining), "X-RateLimit-Reset": moment}
    return replace(answer, headers={**answer.headers, **limit})
