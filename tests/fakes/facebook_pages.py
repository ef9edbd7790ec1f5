"""A Facebook page's posts, photos, stories and comments in the stand-in. Sources: developers.facebook.com, pages-api/posts,
page-stories-api, graph-api/reference/page/published_posts, graph-api/reference/object/comments; the codes of refusals are
those that clients report.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.facebook_login import FacebookLogin, Token
from tests.fakes.facebook_videos import FacebookVideos
from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import (
    GraphRefusal,
    fields_of,
    forbidden,
    form_of,
    ids_in,
    invalid_parameter,
    list_page,
    no_such_object,
    parts_of,
    stamp,
)

IMAGES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")
PHOTO_BYTES = 4_000_000
PHOTOS_LIVE = timedelta(hours=24)
POST_FIELDS = {"id", "message", "created_time", "updated_time", "permalink_url", "attachments"}


@dataclass
class Photo:
    """A photo, which is not visible until a post or story uses it."""

    id: str
    page_id: str
    content: bytes
    alt_text: str
    made_at: datetime
    used: bool = False


@dataclass
class Post:
    """A published post of the page, or a story of a photo. `comments` are (author, text)."""

    id: str
    page_id: str
    message: str
    made_at: datetime
    link: str = ""
    photos: list[Photo] = field(default_factory=list)
    comments: list[tuple[str, str]] = field(default_factory=list)
    edited_at: datetime | None = None
    is_story: bool = False

    def entity(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "id": self.id,
            "created_time": stamp(self.made_at),
            "updated_time": stamp(self.edited_at or self.made_at),
            "permalink_url": f"https://www.facebook.com/{self.page_id}/posts/{self.id.partition('_')[2]}",
        }
        if self.message:
            fields["message"] = self.message
        targets = [{"media_type": "photo", "target": {"id": photo.id}} for photo in self.photos]
        if len(targets) > 1:
            album = {"media_type": "album", "target": {"id": "77"}, "subattachments": {"data": targets}}
            fields["attachments"] = {"data": [album]}
        elif targets or self.link:
            fields["attachments"] = {"data": targets or [{"media_type": "link", "unshimmed_url": self.link}]}
        return fields


class FacebookPages:
    """The edges of pages. `lag`: how long new posts are missing in lists."""

    def __init__(self, login: FacebookLogin, site: str) -> None:
        self._login = login
        self.photos: dict[str, Photo] = {}
        self.posts: list[Post] = []
        self.lag = timedelta(0)
        self.reads = True
        self._numbers = itertools.count(122_000_000_000_001)
        self.videos = FacebookVideos(site, self.new_id)

    def new_id(self) -> str:
        return str(next(self._numbers))

    def feed(self, request: ReceivedRequest) -> Answer:
        token, given = self._publisher(request), form_of(request)
        message, link = given.get("message", ""), given.get("link", "")
        photos = [self._usable(token, each["media_fbid"]) for each in json.loads(given.get("attached_media", "[]"))]
        if not (message.strip() or link or photos):
            raise invalid_parameter("Requires one of the params: attached_media, link, message")
        if len(message) > 63_206:
            raise invalid_parameter("Param message is too long")
        mine = [post for post in self.posts if post.page_id == token.page_id and not post.is_story]
        if mine and not photos and not mine[-1].photos and (mine[-1].message, mine[-1].link) == (message.strip(), link):
            raise GraphRefusal(506, "Duplicate status message", error_user_msg="This status update is identical.")
        for photo in photos:
            photo.used = True
        return Answer.of_json({"id": self.add_post(token.page_id, message.strip(), link=link, photos=photos).id})

    def photo(self, request: ReceivedRequest) -> Answer:
        token, given = self._publisher(request), form_of(request)
        content, is_file = parts_of(request).get("source", (b"", False))
        if given.get("published") != "false" or not is_file:
            raise invalid_parameter("This stand-in takes photos as files that are not published yet.")
        if not content.startswith(IMAGES) or len(content) > PHOTO_BYTES:
            message = "Your photos couldn't be uploaded. Photos should be smaller than 4 MB and saved as JPG, PNG."
            raise GraphRefusal(1, "Please reduce the size.", 1366046, error_user_msg=message)
        photo = Photo(self.new_id(), token.page_id, content, given.get("alt_text_custom", ""), datetime.now(UTC))
        self.photos[photo.id] = photo
        return Answer.of_json({"id": photo.id})

    def photo_story(self, request: ReceivedRequest) -> Answer:
        token = self._publisher(request)
        photo = self._usable(token, form_of(request).get("photo_id", ""))
        photo.used = True
        story = self.add_post(token.page_id, "", photos=[photo], is_story=True)
        return Answer.of_json({"success": True, "post_id": story.id.partition("_")[2]})

    def video(self, request: ReceivedRequest) -> Answer:
        """Perform a phase of a video's upload, by the edge that receives it."""
        token = self._publisher(request)
        return self.videos.phase(token.page_id, request, request.path.rpartition("/")[2])

    def published_posts(self, request: ReceivedRequest) -> Answer:
        token = self._reader(request)
        wanted, since = fields_of(request, POST_FIELDS) | {"id"}, float(request.query.get("since", "0"))
        found = [post for post in self._shown(token) if not post.is_story and post.made_at.timestamp() >= since]
        entities = [post.entity() for post in reversed(found)]
        return list_page([{name: each[name] for name in each if name in wanted} for each in entities], request)

    def reels(self, request: ReceivedRequest) -> Answer:
        return self.videos.reels(self._reader(request).page_id, request)

    def stories(self, request: ReceivedRequest) -> Answer:
        token = self._reader(request)
        fields_of(request, {"post_id", "media_id", "url", "status", "creation_time", "media_type"})
        photos = [(post.id.partition("_")[2], post.photos[0].id) for post in self._shown(token) if post.is_story]
        videos = [(f"9{each.id}", each.id) for each in self.videos.stories(token.page_id)]
        fields = [
            {"post_id": post_id, "media_id": media_id, "url": f"https://facebook.com/stories/{post_id}"}
            for post_id, media_id in [*photos, *videos]
        ]
        return list_page(fields, request)

    def object(self, request: ReceivedRequest) -> Answer:
        token, object_id = self._login.access_of(request), ids_in(request)[0]
        if object_id in self.videos.videos:
            fields_of(request, {"id", "status", "published", "permalink_url"})
            return self.videos.status_of(object_id)
        post = self._post(token, object_id)
        wanted = fields_of(request, POST_FIELDS) | {"id"}
        return Answer.of_json({name: value for name, value in post.entity().items() if name in wanted})

    def comment(self, request: ReceivedRequest) -> Answer:
        token, object_id = self._login.access_of(request), ids_in(request)[0]
        if token.person.permissions.get("pages_manage_engagement") != "granted":
            raise forbidden("pages_manage_engagement")
        text = form_of(request).get("message", "")
        if not 1 <= len(text) <= 8000:
            raise invalid_parameter("Invalid comment message", 1_705)
        self._comments(token, object_id).append((token.page_id, text))
        return Answer.of_json({"id": f"{object_id.rpartition('_')[2]}_{self.new_id()}"})

    def comments(self, request: ReceivedRequest) -> Answer:
        token = self._reader(request)
        fields_of(request, {"id", "message", "from"})
        fields = [
            {"id": f"1_{number}", "message": text, "from": {"id": author}}
            for number, (author, text) in enumerate(self._comments(token, ids_in(request)[0]), start=1)
        ]
        return list_page(list(reversed(fields)), request)

    def add_post(self, page_id: str, message: str, **more: Any) -> Post:
        post = Post(f"{page_id}_{self.new_id()}", page_id, message, datetime.now(UTC), **more)
        self.posts.append(post)
        return post

    def _comments(self, token: Token, object_id: str) -> list[tuple[str, str]]:
        if object_id in self.videos.videos:
            return self.videos.videos[object_id].comments
        return self._post(token, object_id).comments

    def _post(self, token: Token, post_id: str) -> Post:
        found = next((post for post in self.posts if post.id == post_id and post.page_id == token.page_id), None)
        if found is None:
            raise no_such_object(post_id)
        return found

    def _shown(self, token: Token) -> list[Post]:
        now = datetime.now(UTC)
        return [post for post in self.posts if post.page_id == token.page_id and post.made_at + self.lag <= now]

    def _usable(self, token: Token, photo_id: str) -> Photo:
        photo = self.photos.get(photo_id)
        if photo is None or photo.page_id != token.page_id or datetime.now(UTC) > photo.made_at + PHOTOS_LIVE:
            raise invalid_parameter("Invalid parameter: there is no such photo.")
        if photo.used:
            raise GraphRefusal(1, "Photos were already posted.", 1366051)
        return photo

    def _publisher(self, request: ReceivedRequest) -> Token:
        token = self._login.access_of(request)
        if token.page_id != ids_in(request)[0]:
            raise no_such_object(ids_in(request)[0])
        if token.person.permissions.get("pages_manage_posts") != "granted":
            raise forbidden("pages_manage_posts")
        return token

    def _reader(self, request: ReceivedRequest) -> Token:
        token = self._login.access_of(request)
        if not self.reads or token.person.permissions.get("pages_read_engagement") != "granted":
            raise GraphRefusal(10, "(#10) This endpoint requires the 'pages_read_engagement' permission.", status=403)
        return token
