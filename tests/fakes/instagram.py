"""A stand-in of Instagram's API with Instagram Login, for one app that people connect.

Written from developers.facebook.com; `instagram_login` and `instagram_media` name the pages.

    with FakeInstagram() as instagram:
        instagram.add_account("alice")
        code = instagram.grant(authorization_url, "alice")
        address = instagram.serve(picture)
        instagram.drop_next(PUBLISH)
        ...
        assert [post["caption"] for post in instagram.posts("alice")] == ["Hello"]

Calls are named by method and path. Files are those of `serve`, or are fetched with the function of `fetch_by`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.instagram_login import InstagramLogin, LoginRefusal
from tests.fakes.instagram_media import InstagramMedia
from tests.fakes.meta import GraphRefusal, call_of, fields_of

CODE, LENGTHEN, RENEW = "POST /oauth/access_token", "GET /access_token", "GET /refresh_access_token"
ME, MAKE, PUBLISH, OBJECT = "GET /me", "POST /:id/media", "POST /:id/media_publish", "GET /:id"
MEDIA, STORIES = "GET /:id/media", "GET /:id/stories"
QUOTA = "GET /:id/content_publishing_limit"
COMMENT, COMMENTS = "POST /:id/comments", "GET /:id/comments"


@dataclass
class Person:
    """A person with an Instagram account."""

    id: str
    username: str
    account_type: str

    def entity(self) -> dict[str, Any]:
        return {
            "id": f"2{self.id}",
            "user_id": self.id,
            "username": self.username,
            "name": self.username.title(),
            "account_type": self.account_type,
            "profile_picture_url": f"https://scontent.cdninstagram.com/{self.id}.jpg",
        }


class FakeInstagram(FaultyServer):
    """Instagram's stand-in: a server on which tests add accounts, consents and faults and read the published posts."""

    platform = "instagram"

    def __init__(self) -> None:
        super().__init__()
        self._people: dict[str, Person] = {}
        self._login = login = InstagramLogin(self.url)
        self._media = media = InstagramMedia(login)
        self._methods: dict[str, Callable[[ReceivedRequest], Answer]] = {
            CODE: login.exchange_code,
            LENGTHEN: login.lengthen,
            RENEW: login.renew,
            ME: self._me,
            MAKE: media.make,
            PUBLISH: media.publish,
            OBJECT: media.object,
            MEDIA: media.media,
            STORIES: media.stories,
            QUOTA: media.quota,
            COMMENT: media.comment,
            COMMENTS: media.comments,
        }
        self.calls = frozenset(self._methods)

    # what a test arranges

    def add_account(self, username: str, account_type: str = "BUSINESS") -> str:
        """Add an account; returns its id."""
        with self._lock:
            person = Person(self._media.new_id(), username, account_type)
            self._people[username] = person
            return person.id

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the app's settings."""
        self._login.redirect_uris.add(uri)

    def grant(self, authorization_url: str, username: str, scopes: Iterable[str] | None = None) -> str:
        """Consent as the owner to the scopes that the app requests, or to these only; returns the code.

        Raises ValueError where Instagram would show an error instead.
        """
        with self._lock:
            return self._login.grant(authorization_url, self._people[username].id, scopes)

    def answer_codes_with_an_object(self) -> None:
        """Answer codes with an object, as Instagram did before, not with a list."""
        self._login.wrapped = False

    def withdraw(self, username: str) -> None:
        """Revoke the app's access as the owner."""
        with self._lock:
            user_id = self._people[username].id
            for token in [token for token, opened in self._login.tokens.items() if opened.user_id == user_id]:
                del self._login.tokens[token]

    def serve(self, content: bytes) -> str:
        """Serve a file; returns its address."""
        address = f"https://files.example/{len(self._media.files)}"
        self._media.files[address] = content
        return address

    def fetch_by(self, fetch: Callable[[str], bytes]) -> None:
        """Fetch files with this function."""
        self._media.fetch = fetch

    def process_media(self, checks: int, *, error: int = 0) -> None:
        """Let further containers be ready, or failed with this subcode, after so many status checks."""
        self._media.processing = (checks, error)

    def limit_posts_per_day(self, posts: int) -> None:
        """Let the API publish so many posts in 24 hours."""
        self._media.daily = posts

    def comment(self, post_id: str, text: str) -> None:
        """Comment below a post as another person."""
        with self._lock:
            next(post for post in self._media.posts if post.id == post_id).comments.append(text)

    def list_nothing(self) -> None:
        """Leave all posts out of lists."""
        self._media.lists_nothing = True

    def post(self, username: str, caption: str) -> str:
        """Post by hand as the owner; returns the post's id."""
        with self._lock:
            return self._media.add_post(self._people[username].id, caption).id

    # what a test reads

    def posts(self, username: str) -> list[dict[str, Any]]:
        """The account's posts in order: the parameters of their containers, the files with their alt texts, and where they
        were fetched."""
        with self._lock:
            return [
                {
                    "id": post.id,
                    "caption": post.caption,
                    "given": _options(post.container.given) if post.container else {},
                    "files": [(each.content, each.given.get("alt_text", "")) for each in post.containers],
                    "addresses": [each.address for each in post.containers],
                    "comments": list(post.comments),
                }
                for post in self._media.posts
                if post.user_id == self._people[username].id
            ]

    def access_tokens(self, username: str) -> list[str]:
        """The tokens that were issued for the account, oldest first."""
        with self._lock:
            user_id = self._people[username].id
            return [token for token, opened in self._login.tokens.items() if opened.user_id == user_id]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The method and path without the version, ids replaced by `:id`."""
        return call_of(request)

    def server_error(self, status: int) -> Answer:
        error = {"message": "Service temporarily unavailable", "type": "OAuthException", "is_transient": True, "code": 2}
        return Answer.of_json({"error": error}, status)

    def perform(self, request: ReceivedRequest) -> Answer:
        try:
            method = self._methods.get(call_of(request))
            if method is None:
                raise GraphRefusal(2500, "Unknown path components", status=404)
            return method(request)
        except (GraphRefusal, LoginRefusal) as refused:
            return refused.answer()

    def _me(self, request: ReceivedRequest) -> Answer:
        user_id = self._login.access_of(request).user_id
        person = next(each for each in self._people.values() if each.id == user_id)
        wanted = fields_of(request, set(person.entity())) | {"id"}
        return Answer.of_json({name: value for name, value in person.entity().items() if name in wanted})


def _options(given: dict[str, str]) -> dict[str, str]:
    """The parameters of a container besides its files and texts."""
    files = ("image_url", "video_url", "caption", "alt_text", "children")
    return {name: value for name, value in given.items() if name not in files}
