"""Threads' containers and posts in the stand-in: created, fetched, processed, published and read in lists.

Sources: developers.facebook.com/docs/threads (publishing reference, carousels, text attachments, reply management,
troubleshooting). As clients report: code 24 with subcode 4279009 for a container that does not exist, or not yet.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from tests.fakes.http_server import Answer, ReceivedRequest
from tests.fakes.meta import GraphRefusal, fields_of, forbidden, form_of, invalid_parameter, list_page, no_such_object, stamp
from tests.fakes.threads_oauth import Access

CONTAINER_LIVES = timedelta(hours=24)
FIELDS = {
    *("media_type", "text", "image_url", "video_url", "is_carousel_item", "children", "reply_to_id"),
    *("reply_control", "topic_tag", "link_attachment", "alt_text", "quote_post_id"),
}
REPLY_CONTROLS = {*("everyone", "accounts_you_follow", "mentioned_only", "parent_post_author_only", "followers_only")}
MEDIA_FIELDS = {"id", "text", "timestamp", "media_type", "permalink", "shortcode", "username"}
BEGINNINGS = {"IMAGE": (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"), "VIDEO": (b"\x00\x00\x00",)}
KINDS_IN_LISTS = {"TEXT": "TEXT_POST", "CAROUSEL": "CAROUSEL_ALBUM"}

_LINK = re.compile(r"(?:https?://|www\.)[^\s]+")
_EMOJI = re.compile(r"[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]")


@dataclass
class Container:
    """A container; it is processed after so many more status checks (`checks_left`)."""

    id: str
    owner: str
    form: dict[str, str]
    made: datetime
    content: bytes = b""
    children: list[Container] = field(default_factory=list)
    checks_left: int = 0
    failure: str = ""
    published: bool = False

    @property
    def status(self) -> str:
        if self.published:
            return "PUBLISHED"
        if datetime.now(UTC) >= self.made + CONTAINER_LIVES:
            return "EXPIRED"
        return "IN_PROGRESS" if self.checks_left else "ERROR" if self.failure else "FINISHED"


@dataclass(frozen=True)
class Post:
    """A published post."""

    id: str
    container: Container
    made: datetime

    @property
    def form(self) -> dict[str, str]:
        return self.container.form


def fetched(url: str) -> bytes:
    """Fetch the bytes at a public address. Raises OSError, ValueError."""
    with urlopen(url, timeout=5) as answer:  # noqa: S310 (a stand-in on loopback)
        return bytes(answer.read())


class ThreadsPosts:
    """Containers and posts of all profiles. `processing`: status checks until a container is ready, and why it fails then;
    `unknown_for`: how many more calls to publish do not find their container."""

    def __init__(self) -> None:
        self._numbers = itertools.count(17_900_000_000_000_001)
        self.containers: dict[str, Container] = {}
        self.posts: dict[str, Post] = {}
        self.processing: tuple[int, str] = (0, "")
        self.unknown_for = 0
        self.lists_nothing = False
        self.shows_posts_only = False
        self.fetch: Callable[[str], bytes] = fetched

    def make(self, access: Access, request: ReceivedRequest) -> Answer:
        """Create a container."""
        form = form_of(request)
        if unknown := set(form) - FIELDS:
            raise invalid_parameter(f"Param {unknown.pop()} is not allowed")
        if "reply_to_id" in form and "threads_manage_replies" not in access.scopes:
            raise forbidden("threads_manage_replies")
        _check(form)
        if "reply_to_id" in form and form["reply_to_id"] not in self.posts:
            raise no_such_object(form["reply_to_id"])
        checks_left, failure = self.processing
        made = Container(self._new_id(), access.user_id, form, datetime.now(UTC), checks_left=checks_left, failure=failure)
        kind = form["media_type"]
        if kind == "CAROUSEL":
            made.children = [self._child(access, each) for each in form.get("children", "").split(",")]
            if not 2 <= len(made.children) <= 20:
                raise invalid_parameter("A carousel takes 2 to 20 children")
        elif kind != "TEXT":
            self._take(made, kind, form.get(f"{kind.lower()}_url", ""))
        self.containers[made.id] = made
        return Answer.of_json({"id": made.id})

    def publish(self, access: Access, request: ReceivedRequest) -> Answer:
        """Publish a container. Repeated calls publish it repeatedly here, so that only the caller can prevent it."""
        container = self.containers.get(form_of(request).get("creation_id", ""))
        is_found = container is not None and container.owner == access.user_id and "is_carousel_item" not in container.form
        if not is_found or self.unknown_for or (container and container.status not in ("FINISHED", "PUBLISHED")):
            self.unknown_for = max(self.unknown_for - 1, 0)
            user_msg = "The media with this id cannot be found."
            raise GraphRefusal(24, "The requested resource does not exist", 4279009, error_user_msg=user_msg)
        assert container is not None
        container.published = True
        post = Post(self._new_id(), container, datetime.now(UTC))
        self.posts[post.id] = post
        return Answer.of_json({"id": post.id})

    def show(self, access: Access, request: ReceivedRequest) -> Answer:
        """Return a container's status, or a post."""
        object_id = request.path.rpartition("/")[2]
        container, post = self.containers.get(object_id), self.posts.get(object_id)
        if container is not None and container.published and self.shows_posts_only:
            raise invalid_parameter("Tried accessing nonexisting field (status)")
        if container is not None and container.owner == access.user_id:
            wanted = fields_of(request, {"id", "status", "error_message"})
            status, failure = container.status, container.failure
            container.checks_left = max(container.checks_left - 1, 0)
            fields = {"id": object_id, "status": status, **({"error_message": failure} if status == "ERROR" else {})}
            return Answer.of_json({name: value for name, value in fields.items() if name in wanted or name == "id"})
        if post is None:
            raise no_such_object(object_id)
        wanted = fields_of(request, MEDIA_FIELDS)
        return Answer.of_json({name: value for name, value in _entity_of(post).items() if name in wanted})

    def list_of(self, access: Access, request: ReceivedRequest) -> Answer:
        """Return a page of the profile's posts, or of its replies, newest first."""
        replies = request.path.endswith("/replies")
        if replies and "threads_read_replies" not in access.scopes:
            raise forbidden("threads_read_replies")
        wanted = fields_of(request, MEDIA_FIELDS | ({"replied_to"} if replies else set()))
        since = datetime.fromtimestamp(int(request.query.get("since", "1688540400")), UTC)
        found = [
            {name: value for name, value in _entity_of(post).items() if name in wanted}
            for post in reversed(self.posts.values())
            if post.container.owner == access.user_id and ("reply_to_id" in post.form) is replies and post.made >= since
        ]
        return list_page([] if self.lists_nothing else found, request)

    def _take(self, made: Container, kind: str, url: str) -> None:
        try:
            made.content = self.fetch(url)
        except (URLError, OSError, ValueError):
            made.failure = f"FAILED_DOWNLOADING_{kind}"
        else:
            if not made.content.startswith(BEGINNINGS[kind]):
                made.failure = f"FAILED_PROCESSING_{kind}"

    def _child(self, access: Access, container_id: str) -> Container:
        child = self.containers.get(container_id)
        if child is None or child.owner != access.user_id or child.form.get("is_carousel_item") != "true":
            raise invalid_parameter("A child is no carousel item")
        if child.status != "FINISHED":
            raise GraphRefusal(24, "The requested resource does not exist", 4279009)
        return child

    def _new_id(self) -> str:
        return str(next(self._numbers))


def _check(form: Mapping[str, str]) -> None:
    if form.get("media_type") not in ("TEXT", "IMAGE", "VIDEO", "CAROUSEL"):
        raise invalid_parameter("Param media_type must be one of {TEXT, IMAGE, VIDEO, CAROUSEL}")
    text = form.get("text", "")
    if form["media_type"] == "TEXT" and not text.strip():
        raise invalid_parameter("The parameter text is required")
    emoji = sum(len(each.encode()) - 1 for each in _EMOJI.findall(text))
    if len(text) + emoji > 500:
        raise invalid_parameter("Param text must be at most 500 characters long.")
    if len({*_LINK.findall(text), *filter(None, [form.get("link_attachment")])}) > 5:
        raise invalid_parameter("THREADS_API__LINK_LIMIT_EXCEEDED")
    if form.get("reply_control", "everyone") not in REPLY_CONTROLS:
        raise invalid_parameter("Param reply_control is not one of the allowed values")
    if len(form.get("alt_text", "")) > 1000:
        raise invalid_parameter("Param alt_text must be at most 1000 characters long.")
    if "link_attachment" in form and form["media_type"] != "TEXT":
        raise invalid_parameter("Param link_attachment is for text posts only")
    if re.search(r"[.&]", form.get("topic_tag", "")) or len(form.get("topic_tag", "")) > 50:
        raise invalid_parameter("Param topic_tag is not valid")


def _entity_of(post: Post) -> dict[str, Any]:
    kind = post.form["media_type"]
    parent = {"replied_to": {"id": post.form["reply_to_id"]}} if "reply_to_id" in post.form else {}
    return {
        "id": post.id,
        "text": post.form.get("text", "").strip(),
        "timestamp": stamp(post.made),
        "media_type": KINDS_IN_LISTS.get(kind, kind),
        "permalink": f"https://www.threads.com/@alice/post/{post.id}",
        **parent,
    }
