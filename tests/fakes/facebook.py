"""A stand-in of Facebook's Graph API for pages and of its login, for one app that people connect.

Written from developers.facebook.com; `facebook_login`, `facebook_pages` and `facebook_videos` name further sources.

    with FakeFacebook() as facebook:
        page_id = facebook.add_page("Bakery", admin="alice")
        code = facebook.grant(authorization_url, "alice")
        facebook.drop_next(FEED)
        ...
        assert [post["message"] for post in facebook.posts(page_id)] == ["Hello"]

Calls are named by method and path, and uploads also by their phase. `video_api_base` stands for graph-video.facebook.com,
which accepts the videos of posts and nothing else; graph.facebook.com accepts all other calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.fakes.facebook_login import FacebookLogin, FacebookPage, Person
from tests.fakes.facebook_pages import FacebookPages
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import GraphRefusal, business_usage, call_of, invalid_parameter

TOKEN, PERMISSIONS, ACCOUNTS, ME = ("GET /oauth/access_token", "GET /me/permissions", "GET /me/accounts", "GET /me")
FEED, PHOTOS, PHOTO_STORIES = "POST /:id/feed", "POST /:id/photos", "POST /:id/photo_stories"
POSTS, STORIES, OBJECT = "GET /:id/published_posts", "GET /:id/stories", "GET /:id"
COMMENT, COMMENTS = "POST /:id/comments", "GET /:id/comments"
START, TRANSFER, FINISH = (f"POST /:id/videos {phase}" for phase in ("start", "transfer", "finish"))
REELS, START_REEL, FINISH_REEL = "GET /:id/video_reels", "POST /:id/video_reels start", "POST /:id/video_reels finish"
START_STORY, FINISH_STORY = "POST /:id/video_stories start", "POST /:id/video_stories finish"
UPLOAD = "POST /video-upload/v25.0/:id"
VIDEO_HOST = "/graph-video"
ALL_TASKS = ("ADVERTISE", "ANALYZE", "CREATE_CONTENT", "MESSAGING", "MODERATE", "MANAGE")


class FakeFacebook(FaultyServer):
    """Facebook's stand-in: a server on which tests add people, pages, consents and faults and read the published posts."""

    platform = "facebook"

    def __init__(self) -> None:
        super().__init__()
        self._people: dict[str, Person] = {}
        self._pages_by_id: dict[str, FacebookPage] = {}
        self._login = login = FacebookLogin(self.url, self._pages_by_id)
        self._pages = pages = FacebookPages(login, self.url)
        self._methods = {
            TOKEN: login.token,
            PERMISSIONS: login.permissions,
            ACCOUNTS: login.accounts,
            ME: login.me,
            FEED: pages.feed,
            PHOTOS: pages.photo,
            PHOTO_STORIES: pages.photo_story,
            POSTS: pages.published_posts,
            STORIES: pages.stories,
            REELS: pages.reels,
            OBJECT: pages.object,
            COMMENT: pages.comment,
            COMMENTS: pages.comments,
            UPLOAD: pages.videos.upload,
            **dict.fromkeys((START, TRANSFER, FINISH, START_REEL, FINISH_REEL, START_STORY, FINISH_STORY), pages.video),
        }
        self.calls = frozenset(self._methods)

    @property
    def video_api_base(self) -> str:
        """The stand-in's address for https://graph-video.facebook.com."""
        return f"{self.url}{VIDEO_HOST}"

    # what a test arranges

    def add_page(self, name: str, *, admin: str, tasks: tuple[str, ...] = ALL_TASKS, username: str = "") -> str:
        """Add a page at which `admin` has a role; returns its id."""
        with self._lock:
            page = FacebookPage(self._pages.new_id(), name, username)
            self._pages_by_id[page.id] = page
            self._person(admin).roles[page.id] = tasks
            return page.id

    def register_redirect(self, uri: str) -> None:
        """Set a callback address in the app's settings."""
        self._login.redirect_uris.add(uri)

    def grant(self, authorization_url: str, name: str, scopes: Iterable[str] | None = None) -> str:
        """Consent as the person to the scopes that the app requests, or to these only; returns the code.

        Raises ValueError where Facebook would show an error instead.
        """
        with self._lock:
            return self._login.grant(authorization_url, self._person(name), scopes)

    def withdraw(self, name: str) -> None:
        """Revoke the app's access as the person."""
        with self._lock:
            gone = [token for token, opened in self._login.tokens.items() if opened.person.name == name]
            for token in gone:
                del self._login.tokens[token]

    def leave(self, name: str, page_id: str) -> None:
        """Remove the person's role at a page."""
        with self._lock:
            del self._person(name).roles[page_id]

    def process_videos(self, checks: int, *, fail: bool = False) -> None:
        """Let further videos be published, or failed, after so many status checks."""
        self._pages.videos.processing = (checks, fail)

    def add_reels(self, page_id: str, count: int) -> None:
        """Publish reels as another client of the API."""
        with self._lock:
            for _ in range(count):
                self._pages.videos.add_reel(page_id)

    def refuse_reels_by(self, refusal: GraphRefusal) -> None:
        """Refuse the reel above the limit with this error."""
        self._pages.videos.too_many_reels = refusal

    def lag_lists(self, seconds: float) -> None:
        """Show new posts in lists only after so many seconds."""
        self._pages.lag = timedelta(seconds=seconds)

    def refuse_reading(self) -> None:
        """Refuse to let lists be read."""
        self._pages.reads = False

    def post(self, page_id: str, message: str) -> str:
        """Post to the page by hand; returns the post's id."""
        with self._lock:
            return self._pages.add_post(page_id, message).id

    def edit(self, post_id: str, message: str) -> None:
        """Edit a post by hand, a minute after it was created."""
        with self._lock:
            post = next(post for post in self._pages.posts if post.id == post_id)
            post.message, post.edited_at = message, post.made_at + timedelta(minutes=1)

    def rate_limit_next(self, call: str, page_id: str, minutes: int) -> None:
        """Refuse the next such call by the page's rate limit, for so many minutes."""
        refused = GraphRefusal(32, "(#32) Page request limit reached", status=400)
        self.refuse_next(call, refused.answer(business_usage(page_id, minutes)))

    # what a test reads

    def posts(self, page_id: str) -> list[dict[str, Any]]:
        """The page's posts in order, with the bytes and alt texts of their photos."""
        with self._lock:
            return [
                {
                    "id": post.id,
                    "message": post.message,
                    "link": post.link,
                    "photos": [(photo.content, photo.alt_text) for photo in post.photos],
                    "comments": [text for _, text in post.comments],
                }
                for post in self._pages.posts
                if post.page_id == page_id and not post.is_story
            ]

    def stories_of(self, page_id: str) -> list[bytes]:
        """The photos of the page's stories."""
        with self._lock:
            return [post.photos[0].content for post in self._pages.posts if post.page_id == page_id and post.is_story]

    def videos(self, page_id: str) -> list[dict[str, Any]]:
        """The page's videos that are finished, in order: their edge, what was given with them, and their bytes."""
        with self._lock:
            return [
                {
                    "id": video.id,
                    "edge": video.edge,
                    "given": video.given,
                    "content": video.content,
                    "state": video.state,
                    "comments": [text for _, text in video.comments],
                }
                for video in self._pages.videos.videos.values()
                if video.page_id == page_id and video.state != "announced"
            ]

    # the service

    def call_of(self, request: ReceivedRequest) -> str:
        """The method and path without the version, ids replaced by `:id`, and the phase of an upload."""
        return call_of(replace(request, path=request.path.removeprefix(VIDEO_HOST)))

    def server_error(self, status: int) -> Answer:
        error = {"message": "Service temporarily unavailable", "type": "OAuthException", "is_transient": True, "code": 2}
        return Answer.of_json({"error": error}, status)

    def perform(self, request: ReceivedRequest) -> Answer:
        try:
            call = self.call_of(request)
            if (call in (START, TRANSFER, FINISH)) != request.path.startswith(VIDEO_HOST):
                raise invalid_parameter("Videos are published to graph-video.facebook.com")
            method = self._methods.get(call)
            if method is None:
                raise GraphRefusal(2500, "Unknown path components", status=404)
            return method(request)
        except GraphRefusal as refused:
            return refused.answer()

    def _person(self, name: str) -> Person:
        if name not in self._people:
            self._people[name] = Person(self._pages.new_id(), name)
        return self._people[name]
