"""A stand-in of Meta's Threads API and of its page of consent, for one app that people connect.

Written from developers.facebook.com/docs/threads; `threads_posts` names further sources.

    with FakeThreads() as threads:
        threads.add_profile("alice")
        code = threads.grant(authorization_url, "alice")
        threads.drop_next(PUBLISH)
        ...
        assert [post["text"] for post in threads.posts("alice")] == ["Hello"]

Calls are named by method and path without the version, ids replaced by `:id`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest
from tests.fakes.meta import GraphRefusal, fields_of, forbidden, no_such_object
from tests.fakes.threads_oauth import Access, ThreadsOAuth
from tests.fakes.threads_posts import Container, ThreadsPosts

CODE, LONG, REFRESH = "POST /oauth/access_token", "GET /access_token", "GET /refresh_access_token"
ME, MAKE, PUBLISH = "GET /me", "POST /:id/threads", "POST /:id/threads_publish"
SHOW, LIST, REPLIES = "GET /:id", "GET /:id/threads", "GET /:id/replies"
FILE = "GET /files/:id"
OPTIONS = ("reply_control", "topic_tag", "link_attachment")

_ID = re.compile(r"(?<=/)\d+(?=/|$)")


class FakeThreads(FaultyServer):
    """Threads' stand-in: a server on which tests add profiles, consents and faults and read the published posts."""

    platform = "threads"

    def __init__(self) -> None:
        super().__init__()
        self._profiles: dict[str, str] = {}  # usernames by id
        self._files: list[bytes] = []
        self._oauth, self._posts = ThreadsOAuth(self.url), ThreadsPosts()
        self._tokens = {CODE: self._oauth.of_code, LONG: self._oauth.long_lived, REFRESH: self._oauth.refreshed}
        self._methods: dict[str, tuple[str, Callable[[Access, ReceivedRequest], Answer]]] = {
            ME: ("threads_basic", self._me),
            MAKE: ("threads_content_publish", self._posts.make),
            PUBLISH: ("threads_content_publish", self._posts.publish),
            SHOW: ("threads_basic", self._posts.show),
            LIST: ("threads_basic", self._posts.list_of),
            REPLIES: ("threads_basic", self._posts.list_of),
        }
        self.calls = frozenset({*self._tokens, *self._methods, FILE})

    # what a test arranges

    def add_profile(self, username: str) -> str:
        """Add a profile; returns its id."""
        profile_id = str(9_000_000_000_000_001 + len(self._profiles))
        self._profiles[profile_id] = username
        return profile_id

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the app's settings."""
        self._oauth.redirect_uris.add(uri)

    def grant(self, authorization_url: str, username: str) -> str:
        """Consent as the owner to the scopes that the app requests; returns the code.

        Raises ValueError where Threads would show an error instead.
        """
        with self._lock:
            return self._oauth.grant(authorization_url, self._id_of(username))

    def withdraw(self, username: str) -> None:
        """Revoke the app's access as the owner."""
        with self._lock:
            for tokens in (self._oauth.short, self._oauth.long):
                for token in [each for each, access in tokens.items() if access.user_id == self._id_of(username)]:
                    del tokens[token]

    def host(self, content: bytes) -> str:
        """Serve these bytes at a public address; returns the address."""
        self._files.append(content)
        return f"{self.url}/files/{len(self._files) - 1}"

    def fetch_by(self, fetch: Callable[[str], bytes]) -> None:
        """Fetch files with this function instead of over HTTP."""
        self._posts.fetch = fetch

    def process(self, checks: int, *, failure: str = "") -> None:
        """Let further containers be ready, or failed for this reason, after so many status checks."""
        self._posts.processing = (checks, failure)

    def hide_next_containers(self, times: int) -> None:
        """Let the next calls to publish not find their container."""
        self._posts.unknown_for = times

    def forget_containers(self) -> None:
        """Delete all containers."""
        with self._lock:
            self._posts.containers.clear()

    def list_nothing(self, hidden: bool = True) -> None:
        """Leave the posts out of lists, or show them again."""
        self._posts.lists_nothing = hidden

    def show_posts_only(self) -> None:
        """Show published containers as posts, which have no status."""
        self._posts.shows_posts_only = True

    def post(self, username: str, text: str) -> str:
        """Post as the owner with Threads' own app; returns the post's id."""
        with self._lock:
            form = {"media_type": "TEXT", "text": text}
            container = Container("0", self._id_of(username), form, datetime.now(UTC))
            self._posts.containers["0"] = container
            access = Access(container.owner, (), container.made, container.made)
            made = self._posts.publish(access, ReceivedRequest("POST", "", {"creation_id": "0"}, {}, b""))
            return str(ReceivedRequest("", "", {}, {}, made.body).json()["id"])

    # what a test reads

    def posts(self, username: str) -> list[dict[str, Any]]:
        """The profile's posts in order: as they were given, with the bytes and alt texts of their media."""
        with self._lock:
            return [
                {
                    "id": post.id,
                    "text": post.form.get("text", ""),
                    "kind": post.form["media_type"],
                    "reply_to": post.form.get("reply_to_id"),
                    "options": {name: post.form[name] for name in OPTIONS if name in post.form},
                    "media": [
                        (each.form["media_type"], each.content, each.form.get("alt_text"))
                        for each in (post.container.children or [post.container])
                        if each.form["media_type"] in ("IMAGE", "VIDEO")
                    ],
                }
                for post in self._posts.posts.values()
                if post.container.owner == self._id_of(username)
            ]

    # the service

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Like the base class, except for files, which are fetched during another call."""
        if self.call_of(request) == FILE:
            number = int(request.path.rpartition("/")[2])
            return Answer(200, self._files[number]) if number < len(self._files) else Answer(404)
        return super().answer(request)

    def call_of(self, request: ReceivedRequest) -> str:
        """The method and path without the version, ids replaced by `:id`."""
        return f"{request.method} {_ID.sub(':id', request.path.removeprefix('/v1.0'))}"

    def server_error(self, status: int) -> Answer:
        return GraphRefusal(2, "Service temporarily unavailable", status=status, is_transient=True).answer()

    def perform(self, request: ReceivedRequest) -> Answer:
        call = self.call_of(request)
        try:
            if call in self._tokens:
                return self._tokens[call](request)
            if call not in self._methods or not request.path.startswith("/v1.0/"):
                raise GraphRefusal(2500, f"Unknown path components: {request.path}")
            access = self._oauth.access_of(request)
            scope, method = self._methods[call]
            if scope not in access.scopes:
                raise forbidden(scope)
            if call in (MAKE, PUBLISH, LIST, REPLIES) and request.path.split("/")[2] != access.user_id:
                raise no_such_object(request.path.split("/")[2])
            return method(access, request)
        except GraphRefusal as refused:
            return refused.answer()

    def _me(self, access: Access, request: ReceivedRequest) -> Answer:
        wanted = fields_of(request, {"id", "username", "name", "threads_profile_picture_url", "threads_biography"})
        username = self._profiles[access.user_id]
        fields = {
            "id": access.user_id,
            "username": username,
            "name": username.title(),
            "threads_profile_picture_url": f"https://scontent.cdninstagram.com/{access.user_id}",
        }
        return Answer.of_json({name: value for name, value in fields.items() if name in wanted})

    def _id_of(self, username: str) -> str:
        return next(each for each, name in self._profiles.items() if name == username)
