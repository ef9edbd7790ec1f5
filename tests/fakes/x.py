"""A stand-in of X's API v2 and of its page of consent, for one app that people connect.

Written from docs.x.com; `x_oauth`, `x_methods` and `x_media` say what is from elsewhere.

    with FakeX() as x:
        x.add_person("alice")
        code = x.grant(authorization_url, "alice")
        x.drop_next(CREATE)
        ...
        assert [post["text"] for post in x.posts("alice")] == ["Hello"]

Calls are named by method and path; the constants of `x_methods` hold them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.x_methods import REVOKE, TOKEN, XMethods, call_of
from tests.fakes.x_oauth import OAuthRefusal
from tests.fakes.x_problems import Problem


class FakeX(FaultyServer):
    """X's API on loopback; tests add accounts, grant access, set faults and read the posts that were accepted."""

    platform = "x"

    def __init__(self) -> None:
        super().__init__()
        self._methods = XMethods(self.url)
        self._store, self._oauth = self._methods.store, self._methods.oauth
        self.calls = frozenset({TOKEN, REVOKE, *self._methods.endpoints})

    # what a test arranges

    def add_person(self, username: str) -> str:
        """Add an X account; return its id."""
        with self._lock:
            return self._store.add_person(username).id

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the settings of the app at X."""
        self._oauth.redirect_uris.add(uri)

    def grant(self, authorization_url: str, username: str, scopes: Iterable[str] | None = None) -> str:
        """Grant the app access to an X account, with the requested scopes or only these; return the code.

        Raises ValueError if X would show an error.
        """
        with self._lock:
            return self._oauth.grant(authorization_url, self._store.person(username).id, scopes)

    def withdraw(self, username: str) -> None:
        """Revoke the app's access to the X account."""
        with self._lock:
            person_id = self._store.person(username).id
            for tokens in (self._oauth.access, self._oauth.refresh):
                for token in [token for token, access in tokens.items() if access.person_id == person_id]:
                    del tokens[token]

    def suspend(self, username: str) -> None:
        """Suspend the X account."""
        with self._lock:
            self._store.person(username).suspended = True

    def use_up_credits(self) -> None:
        """Use up the operator's credits at X."""
        self._methods.has_credits = False

    def list_nothing(self) -> None:
        """Omit all posts from X's lists."""
        with self._lock:
            self._methods.lists_nothing = True

    def refuse_replies(self) -> None:
        """Make X refuse replies to authors who did not mention the account, even to its own posts."""
        self._methods.takes_replies = False

    def process_media(self, checks: int, *, fail: bool = False) -> None:
        """Process new GIFs and videos of X for so many checks of their status, then finish or fail."""
        self._methods.media.processing = (checks, fail)

    def forget_media(self) -> None:
        """Delete all uploads of X, as happens after a day."""
        with self._lock:
            self._store.uploads.clear()

    def post(self, username: str, text: str, **properties: Any) -> str:
        """Create an X post with X's own client; return its id."""
        with self._lock:
            return self._store.add_post(self._store.person(username), text, **properties).id

    def edit(self, post_id: str, text: str) -> str:
        """Edit an X post, which gets another id."""
        with self._lock:
            old = self._store.posts.pop(post_id)
            edited = replace(old, id=self._store.new_id(), text=text)
            edited.history = [*old.history, edited.id]
            self._store.posts[edited.id] = edited
            return edited.id

    def rate_limit_next(self, call: str, seconds: int, *, of_the_day: bool = False) -> None:
        """Answer the next such call to X with 429: the limit of 15 minutes or of the day ends in so many seconds."""
        reset = str(int((datetime.now(UTC) + timedelta(seconds=seconds)).timestamp()))
        headers = {"x-rate-limit-limit": "100", "x-rate-limit-remaining": "0", "x-rate-limit-reset": reset}
        if of_the_day:
            soon = str(int(datetime.now(UTC).timestamp()) + 1)
            headers |= {"x-rate-limit-remaining": "40", "x-rate-limit-reset": soon}
            headers |= {"x-user-limit-24hour-remaining": "0", "x-user-limit-24hour-reset": reset}
        answer = Problem(429, "Too Many Requests", "Too Many Requests").answer()
        self.refuse_next(call, replace(answer, headers={**answer.headers, **headers}))

    # what a test reads

    @property
    def posts_read(self) -> int:
        """The number of posts that were read, each of which X bills."""
        return self._methods.posts_read

    def refresh_tokens(self, username: str) -> list[str]:
        """The valid refresh tokens of the X account."""
        with self._lock:
            person_id = self._store.person(username).id
            return [token for token, access in self._oauth.refresh.items() if access.person_id == person_id]

    def access_tokens(self, username: str) -> list[str]:
        """The access tokens of the X account that were not revoked."""
        with self._lock:
            person_id = self._store.person(username).id
            return [token for token, access in self._oauth.access.items() if access.person_id == person_id]

    def posts(self, username: str) -> list[dict[str, Any]]:
        """The posts of the X account in order, as they were sent, with the bytes and alt texts of their media."""
        with self._lock:
            return [
                {
                    "id": post.id,
                    "text": post.text,
                    "reply_to": post.reply_to,
                    "options": post.given,
                    "poll": post.poll,
                    "media": [(each.category, each.content, each.alt_text) for each in post.media],
                }
                for post in self._store.posts_of(self._store.person(username))
            ]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The method and path of a request to X, ids replaced by `:id`."""
        return call_of(request)

    def server_error(self, status: int) -> Answer:
        return Problem(status, "Service Unavailable", "Service Unavailable").answer()

    def perform(self, request: ReceivedRequest) -> Answer:
        try:
            if call_of(request) == TOKEN:
                return self._oauth.token(request)
            if call_of(request) == REVOKE:
                return self._oauth.revoke(request)
            return self._methods.perform(request)
        except (Problem, OAuthRefusal) as refused:
            return refused.answer()
