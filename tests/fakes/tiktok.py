"""A stand-in of TikTok's API v2 and of its page of consent, for one app that creators connect.

Written from developers.tiktok.com; `tiktok_oauth` and `tiktok_posts` name the pages.

    with FakeTikTok() as tiktok:
        tiktok.add_creator("alice")
        code = tiktok.grant(authorization_url, "alice")
        tiktok.drop_next(LAST)
        ...
        assert [post["title"] for post in tiktok.posts("alice")] == ["Hello"]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.tiktok_oauth import TikTokOAuth
from tests.fakes.tiktok_posts import Person, Posts, TikTokRefusal, ok

TOKEN, REVOKE = "POST /v2/oauth/token/", "POST /v2/oauth/revoke/"
USER, CREATOR = "GET /v2/user/info/", "POST /v2/post/publish/creator_info/query/"
VIDEO, PHOTOS = "POST /v2/post/publish/video/init/", "POST /v2/post/publish/content/init/"
STATUS, CHUNK, LAST = "POST /v2/post/publish/status/fetch/", "a chunk of a video", "the last chunk of a video"
SCOPES = {USER: "user.info.basic", **dict.fromkeys((CREATOR, VIDEO, PHOTOS, STATUS), "video.publish")}


class FakeTikTok(FaultyServer):
    """TikTok's stand-in: a server on which tests add creators, consents and faults and read the published posts."""

    platform = "tiktok"
    calls = frozenset({TOKEN, REVOKE, CHUNK, LAST, *SCOPES})

    def __init__(self) -> None:
        super().__init__()
        self._oauth, self._posts = TikTokOAuth(self.url), Posts(self.url)
        self._people: dict[str, Person] = {}

    # what a test arranges

    def add_creator(self, name: str, **settings: Any) -> None:
        """Add a creator; `settings` are fields of Person."""
        self._people[name] = Person(name, **settings)

    def register_redirect(self, uri: str) -> None:
        """Set a redirect URI of the app."""
        self._oauth.redirect_uris.add(uri)

    def require_pkce(self) -> None:
        """Require PKCE, as of desktop apps."""
        self._oauth.desktop = True

    def grant(self, authorization_url: str, name: str, scopes: Iterable[str] | None = None) -> str:
        """Consent as the person to the requested scopes, or to these only; returns the code. Raises ValueError."""
        with self._lock:
            return self._oauth.grant(authorization_url, name, scopes)

    def withdraw(self, name: str) -> None:
        """Revoke the app's access as the person."""
        with self._lock:
            self._oauth.withdraw(name)

    def process_posts(self, checks: int = 0, *, checks_for_id: int = 0, fail_reason: str | None = None) -> None:
        """Let further posts end after so many status checks, and have an id after so many more."""
        self._posts.processing = (checks, checks_for_id, fail_reason)

    def verify(self, prefix: str) -> None:
        """Verify this URL prefix as the operator's."""
        self._posts.verified = prefix

    def hide_received_bytes(self) -> None:
        """Leave the number of received bytes out of the status."""
        self._posts.shows_received = False

    # what a test reads

    def posts(self, name: str) -> list[dict[str, Any]]:
        """The person's published posts: their metadata, bytes or addresses."""
        with self._lock:
            return [
                {"id": str(post.id), "publish_id": post.publish_id, **post.info, "content": post.content, "urls": post.urls}
                for post in self._posts.published(name)
            ]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        if request.method != "PUT":
            return f"{request.method} {request.path}"
        span, _, total = request.headers.get("content-range", "").removeprefix("bytes ").partition("/")
        return LAST if span.endswith(f"-{int(total) - 1}") else CHUNK

    def server_error(self, status: int) -> Answer:
        return TikTokRefusal(status, "internal_error", "Internal server error").answer()

    def perform(self, request: ReceivedRequest) -> Answer:
        call = self.call_of(request)
        if call == TOKEN:
            return self._oauth.token(request)
        if call == REVOKE:
            return self._oauth.revoke(request)
        if call in (CHUNK, LAST):
            return self._posts.chunk(request)
        try:
            return self._answer(call, request)
        except TikTokRefusal as refused:
            return refused.answer()

    def _answer(self, call: str, request: ReceivedRequest) -> Answer:
        if call not in SCOPES:
            raise TikTokRefusal(404, "unsupported_path")
        access = self._oauth.access_of(request)
        if access is None:
            raise TikTokRefusal(401, "access_token_invalid", "The access token is invalid or not found in the request.")
        if SCOPES[call] not in access.scopes:
            raise TikTokRefusal(401, "scope_not_authorized")
        person = self._people[access.person]
        if call == USER:
            return _user_info(person, request)
        methods = {
            CREATOR: self._posts.creator,
            VIDEO: self._posts.video,
            PHOTOS: self._posts.photos,
            STATUS: self._posts.status,
        }
        return methods[call](person, request)


def _user_info(person: Person, request: ReceivedRequest) -> Answer:
    user = {
        "open_id": f"open-{person.name}",
        "avatar_url": f"https://p16-sign.tiktokcdn.com/{person.name}.jpeg",
        "display_name": person.name.title(),
    }
    wanted = request.query.get("fields", "").split(",")
    if unknown := set(wanted) - set(user):
        raise TikTokRefusal(401, "scope_not_authorized", f"The fields {sorted(unknown)} need another scope.")
    return ok({"user": {name: user[name] for name in wanted}})
