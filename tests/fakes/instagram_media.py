"""Instagram's containers, posts and comments in the stand-in: created, fetched, processed, published and read in lists.

Sources: developers.facebook.com, instagram-platform/content-publishing, ig-user/media, ig-user/media_publish,
ig-user/content_publishing_limit, ig-container, reference/error-codes.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from PIL import Image

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.instagram_login import InstagramLogin, Token
from tests.fakes.meta import (
    GraphRefusal,
    fields_of,
    forbidden,
    form_of,
    ids_in,
    invalid_parameter,
    list_page,
    no_such_object,
    stamp,
)

CONTAINERS_LIVE = timedelta(hours=24)
PARAMETERS = {
    *("image_url", "video_url", "caption", "alt_text", "media_type", "is_carousel_item", "children"),
    *("share_to_feed", "thumb_offset", "collaborators"),
}
JPEG, VIDEO = b"\xff\xd8\xff", b"ftyp"


def _is_feed_shaped(content: bytes) -> bool:
    """Whether a picture is between 4:5 and 1.91:1."""
    with Image.open(io.BytesIO(content)) as image:
        return 4 / 5 <= image.width / image.height <= 1200 / 628


@dataclass
class Container:
    """A container of one file, or of other containers."""

    id: str
    user_id: str
    given: dict[str, str]
    made_at: datetime
    content: bytes = b""
    children: list[Container] = field(default_factory=list)
    state: Literal["IN_PROGRESS", "FINISHED", "ERROR", "PUBLISHED"] = "IN_PROGRESS"
    checks_left: int = 0
    error: int = 0

    @property
    def is_child(self) -> bool:
        return self.given.get("is_carousel_item") == "true"

    @property
    def address(self) -> str:
        """The URL of the container's file."""
        return self.given.get("image_url") or self.given.get("video_url", "")

    @property
    def status(self) -> str:
        expired = datetime.now(UTC) > self.made_at + CONTAINERS_LIVE
        return "EXPIRED" if expired and self.state != "PUBLISHED" else self.state


@dataclass
class Post:
    """A published post of an account."""

    id: str
    user_id: str
    caption: str
    made_at: datetime
    container: Container | None = None
    comments: list[str] = field(default_factory=list)

    @property
    def containers(self) -> list[Container]:
        """The containers of the post's files."""
        return (self.container.children or [self.container]) if self.container else []

    @property
    def is_story(self) -> bool:
        return self.container is not None and self.container.given.get("media_type") == "STORIES"

    def entity(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": self.id, "timestamp": stamp(self.made_at)}
        fields["permalink"] = f"https://www.instagram.com/p/C{self.id}/"
        return fields | ({"caption": self.caption} if self.caption else {})


class InstagramMedia:
    """The edges of accounts. `processing`: status checks until a container is finished, and the subcode of its failure."""

    def __init__(self, login: InstagramLogin) -> None:
        self._login = login
        self.containers: dict[str, Container] = {}
        self.posts: list[Post] = []
        self.files: dict[str, bytes] = {}
        self.fetch: Callable[[str], bytes] = lambda address: self.files.get(address, b"")
        self.processing: tuple[int, int] = (0, 0)
        self.daily = 100
        self.lists_nothing = False
        self._numbers = itertools.count(17_900_000_000_000_001)

    def new_id(self) -> str:
        return str(next(self._numbers))

    def make(self, request: ReceivedRequest) -> Answer:
        token, given = self._publisher(request), form_of(request)
        if unknown := set(given) - PARAMETERS:
            raise invalid_parameter(f"Unexpected parameter {unknown.pop()}")
        container = Container(self.new_id(), token.user_id, given, datetime.now(UTC))
        container.checks_left, container.error = self.processing
        if given.get("media_type") == "CAROUSEL":
            container.children = self._children(token, given)
        else:
            self._fetch_file(container)
        if not container.is_child:
            self._check(given)
        self.containers[container.id] = container
        return Answer.of_json({"id": container.id})

    def publish(self, request: ReceivedRequest) -> Answer:
        token, given = self._publisher(request), form_of(request)
        container = self.containers.get(given.get("creation_id", ""))
        if container is None or container.user_id != token.user_id or container.is_child:
            raise GraphRefusal(24, "The requested resource does not exist", 2207006)
        if container.status == "EXPIRED":
            raise GraphRefusal(-2, "The media you are trying to access has expired.", 2207020)
        if container.state != "FINISHED":
            raise GraphRefusal(9007, "Media ID is not available", 2207027)
        if self._used(token) >= self.daily:
            raise GraphRefusal(9, "Application request limit reached", 2207042, error_user_msg="The daily limit is reached.")
        container.state = "PUBLISHED"
        return Answer.of_json({"id": self.add_post(token.user_id, container.given.get("caption", ""), container).id})

    def quota(self, request: ReceivedRequest) -> Answer:
        token = self._publisher(request)
        wanted = fields_of(request, {"config", "quota_usage"})
        config = {"quota_total": self.daily, "quota_duration": 86_400}
        fields = {"quota_usage": self._used(token), "config": config}
        return Answer.of_json({"data": [{name: value for name, value in fields.items() if name in wanted}]})

    def object(self, request: ReceivedRequest) -> Answer:
        token, object_id = self._login.access_of(request), ids_in(request)[0]
        container = self.containers.get(object_id)
        if container is not None and container.user_id == token.user_id:
            wanted = fields_of(request, {"id", "status", "status_code"})
            fields = {"id": container.id, **self._status_of(container)}
        else:
            wanted = fields_of(request, {"id", "permalink", "caption", "timestamp", "shortcode"})
            fields = self._post(token, object_id).entity()
        return Answer.of_json({name: value for name, value in fields.items() if name in {"id", *wanted}})

    def media(self, request: ReceivedRequest) -> Answer:
        return self._list(request, stories=False)

    def stories(self, request: ReceivedRequest) -> Answer:
        return self._list(request, stories=True)

    def comment(self, request: ReceivedRequest) -> Answer:
        token = self._commenter(request)
        text = form_of(request).get("message", "")
        if not 1 <= len(text) <= 2200:
            raise invalid_parameter("Invalid comment message")
        self._post(token, ids_in(request)[0]).comments.append(text)
        return Answer.of_json({"id": self.new_id()})

    def comments(self, request: ReceivedRequest) -> Answer:
        post = self._post(self._commenter(request), ids_in(request)[0])
        fields_of(request, {"id", "text", "timestamp", "username"})
        return list_page([{"id": f"1{n}", "text": text} for n, text in enumerate(post.comments)], request)

    def add_post(self, user_id: str, caption: str, container: Container | None = None) -> Post:
        post = Post(self.new_id(), user_id, caption, datetime.now(UTC), container)
        self.posts.append(post)
        return post

    def _used(self, token: Token) -> int:
        """The number of posts that the API has published within 24 hours."""
        since = datetime.now(UTC) - timedelta(hours=24)
        own = (post for post in self.posts if post.user_id == token.user_id and post.container)
        return sum(post.made_at > since for post in own)

    def _fetch_file(self, container: Container) -> None:
        """Fetch the file of a container; a wrong format fails only when the container is processed."""
        given = container.given
        moving = given.get("media_type") in ("REELS", "VIDEO") or (
            given.get("media_type") == "STORIES" and "video_url" in given
        )
        if moving == ("video_url" not in given) or moving == ("image_url" in given):
            raise invalid_parameter("Only photo or video can be accepted as media type.", 2207023)
        container.content = self.fetch(container.address)
        if not container.content:
            raise GraphRefusal(9004, "Only photo or video can be accepted as media type.", 2207052)
        if not (container.content[4:8] == VIDEO if moving else container.content.startswith(JPEG)):
            container.error = 2207026 if moving else 2207005
        elif not moving and given.get("media_type") != "STORIES" and not _is_feed_shaped(container.content):
            raise GraphRefusal(36003, "The aspect ratio is not supported.", 2207009)

    def _children(self, token: Token, given: dict[str, str]) -> list[Container]:
        ids = given.get("children", "").split(",")
        children = [self.containers[each] for each in ids if each in self.containers]
        if not 2 <= len(ids) <= 10 or len(children) < len(ids):
            raise GraphRefusal(100, "The carousel has too few or too many children.", 2207028)
        ready = all(each.is_child and each.user_id == token.user_id for each in children)
        if not ready or any(each.status != "FINISHED" for each in children):
            raise GraphRefusal(9007, "Media ID is not available", 2207027)
        return children

    def _check(self, given: dict[str, str]) -> None:
        caption = given.get("caption", "")
        if len(caption) > 2200 or len(re.findall(r"(?<!\w)#\w*[^\W\d_]", caption)) > 30:
            raise GraphRefusal(36004, "The caption was too long.", 2207010)
        collaborators = json.loads(given.get("collaborators", "[]"))
        if not isinstance(collaborators, list) or len(collaborators) > 3:
            raise invalid_parameter("Invalid collaborators")
        if given.get("media_type") == "STORIES" and set(given) - {"media_type", "image_url", "video_url"}:
            raise invalid_parameter("A story has none of these parameters")

    def _status_of(self, container: Container) -> dict[str, str]:
        if container.state == "IN_PROGRESS":
            if container.checks_left <= 0:
                container.state = "ERROR" if container.error else "FINISHED"
            container.checks_left -= 1
        status = {
            "ERROR": f"Error: Media upload has failed with error code {container.error}",
            "FINISHED": "Finished: Media has been uploaded and it is ready to be published.",
        }.get(container.status, container.status.capitalize())
        return {"status_code": container.status, "status": status}

    def _list(self, request: ReceivedRequest, *, stories: bool) -> Answer:
        token = self._login.access_of(request)
        wanted = fields_of(request, {"id", "caption", "permalink", "timestamp", "media_type"})
        found = [post for post in self.posts if post.user_id == token.user_id and post.is_story == stories]
        fields = [{name: value for name, value in post.entity().items() if name in wanted} for post in reversed(found)]
        return list_page([] if self.lists_nothing else fields, request)

    def _post(self, token: Token, post_id: str) -> Post:
        found = next((post for post in self.posts if post.id == post_id and post.user_id == token.user_id), None)
        if found is None:
            raise no_such_object(post_id)
        return found

    def _publisher(self, request: ReceivedRequest) -> Token:
        token = self._login.access_of(request)
        if token.user_id != ids_in(request)[0]:
            raise no_such_object(ids_in(request)[0])
        if "instagram_business_content_publish" not in token.scopes:
            raise forbidden("instagram_business_content_publish")
        return token

    def _commenter(self, request: ReceivedRequest) -> Token:
        token = self._login.access_of(request)
        if "instagram_business_manage_comments" not in token.scopes:
            raise forbidden("instagram_business_manage_comments")
        return token
