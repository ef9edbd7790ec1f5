"""A stand-in of TikTok's API v2 and of its page of consent, for one app that creators connect.

Written from developers.tiktok.com; `tiktok_oauth` and `tiktok_posts` say which pages.

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
    """The server, with the means to arrange creators, consents and faults and to see what was really posted."""

    platform = "tiktok"
    calls = frozenset({TOKEN, REVOKE, CHUNK, LAST, *SCOPES})

    def __init__(self) -> None:
        super().__init__()
        self._oauth, self._posts = TikTokOAuth(self.url), Posts(self.url)
        self._people: dict[str, Person] = {}

    # what a test arranges

    def add_creator(self, name: str, **settings: Any) -> None:
        """Somebody with an account; `settings` are those of Person."""
        self._people[name] = Person(name, **settings)

    def register_redirect(self, uri: str) -> None:
        """Set a redirect URI of the app."""
        self._oauth.redirect_uris.add(uri)

    def is_a_desktop_app(self) -> None:
        """The app has to use PKCE."""
        self._oauth.desktop = True

    def grant(self, authorization_url: str, name: str, scopes: Iterable[str] | None = None) -> str:
        """The person agrees to what is asked for, or to these scopes only; returns the code. Raises ValueError."""
        with self._lock:
            return self._oauth.grant(authorization_url, name, scopes)

    def withdraw(self, name: str) -> None:
        """The person takes the access away."""
        with self._lock:
            self._oauth.withdraw(name)

    def process_posts(self, looks: int = 0, *, looks_for_id: int = 0, fail_reason: str | None = None) -> None:
        """Posts that are announced from now on end after so many looks, and are told their id after so many more."""
        self._posts.processing = (looks, looks_for_id, fail_reason)

    def verify(self, prefix: str) -> None:
        """The operator shows that this prefix is theirs."""
        self._posts.verified = prefix

    def is_not_audited(self) -> None:
        """The app may post to private accounts only."""
        self._posts.audited = False

    def leave_room_for(self, posts: int) -> None:
        """So many posts may be announced today."""
        self._posts.room = posts

    def keep_received_to_itself(self) -> None:
        """A status tells no longer how many bytes there are."""
        self._posts.tells_received = False

    # what a test reads

    def refresh_tokens(self, name: str) -> list[str]:
        """The person's refresh tokens that are good."""
        with self._lock:
            return [token for token, access in self._oauth.refresh.items() if access.person == name]

    def access_tokens(self, name: str) -> list[str]:
        """The person's access tokens that were not ended."""
        with self._lock:
            return [token for token, access in self._oauth.access.items() if access.person == name]

    def posts(self, name: str) -> list[dict[str, Any]]:
        """The person's posts that are out: what was told of them, their bytes or addresses."""
        with self._lock:
            return [
                {
                    "id": str(post.id),
                    "publish_id": post.publish_id,
                    **post.info,
                    "content": post.content,
                    "urls": post.urls,
                }
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
        access = self._oauth.opened_by(request)
        if access is None:
            raise TikTokRefusal(401, "access_token_invalid", "The access token is invalid or not found in the request.")
        if SCOPES[call] not in access.scopes:
            raise TikTokRefusal(401, "scope_not_authorized")
        person = self._people[access.person]
        if call == USER:
            return _told(person, request)
        methods = {
            CREATOR: self._posts.creator,
            VIDEO: self._posts.video,
            PHOTOS: self._posts.photos,
            STATUS: self._posts.status,
        }
        return methods[call](person, request)


def _told(person: Person, request: ReceivedRequest) -> Answer:
    user = {
        "open_id": f"open-{person.name}",
        "avatar_url": f"https://p16-sign.tiktokcdn.com/{person.name}.jpeg",
        "display_name": person.name.title(),
    }
    wanted = request.query.get("fields", "").split(",")
    if unknown := set(wanted) - set(user):
        raise TikTokRefusal(401, "scope_not_authorized", f"The fields {sorted(unknown)} need another scope.")
    return ok({"user": {name: user[name] for name in wanted}})
