"""The data of the X stand-in: accounts, uploads and posts, with their entities in the API.

Sources: docs.x.com, data dictionary (users, posts, entities), X IDs (a snowflake holds its moment). As clients report: X
writes `&`, `<` and `>` of a text as HTML does.
"""

from __future__ import annotations

import hashlib
import html
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from twitter_text import extract_urls_with_indices

EPOCH_MILLISECONDS = 1_288_834_974_657
KINDS = {"tweet_image": 3, "tweet_gif": 16, "tweet_video": 13}  # the number that a media key begins with
UPLOAD_KEPT = timedelta(hours=24)


@dataclass
class Person:
    """An X account."""

    id: str
    username: str
    suspended: bool = False

    def entity(self) -> dict[str, Any]:
        picture = f"https://pbs.twimg.com/profile_images/{self.id}/me_normal.jpg"
        return {"id": self.id, "name": self.username.title(), "username": self.username, "profile_image_url": picture}


@dataclass
class Upload:
    """A media file of the X stand-in, whole or in segments. `checks_left`: how many checks still find it unprocessed."""

    id: str
    owner: str
    category: str
    mime_type: str
    total_bytes: int
    segments: dict[int, bytes] = field(default_factory=dict)
    finalized: bool = False
    checks_left: int = 0
    failed: bool = False
    alt_text: str | None = None
    begun_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def content(self) -> bytes:
        return b"".join(self.segments[index] for index in sorted(self.segments))

    @property
    def key(self) -> str:
        return f"{KINDS[self.category]}_{self.id}"

    @property
    def attachable(self) -> bool:
        fresh = datetime.now(UTC) < self.begun_at + UPLOAD_KEPT
        return self.finalized and not self.checks_left and not self.failed and fresh

    def entity(self) -> dict[str, Any]:
        """The upload in X's responses."""
        return {"id": self.id, "media_key": self.key, "size": self.total_bytes, "expires_after_secs": 86_400}


@dataclass
class Post:
    """A post that the X stand-in has accepted; `given` are its properties besides the text."""

    id: str
    author: Person
    text: str
    media: list[Upload]
    given: dict[str, Any]
    made_at: datetime
    reply_to: str | None = None
    poll: dict[str, Any] | None = None
    history: list[str] = field(default_factory=list)

    def entity(self, wanted: set[str]) -> dict[str, Any]:
        """The X post with its default fields and the requested ones."""
        text, urls = _shortened(self.text, self.id)
        for each in self.media:
            link = _short_link(f"{self.id}{each.id}")
            page = f"https://x.com/{self.author.username}/status/{self.id}/photo/1"
            text = f"{text} {link}".strip()
            urls.append({"url": link, "expanded_url": page, "media_key": each.key})
        more: dict[str, Any] = {"created_at": f"{self.made_at:%Y-%m-%dT%H:%M:%S.000Z}"}
        if urls:
            more["entities"] = {"urls": urls}
        if self.media:
            more["attachments"] = {"media_keys": [each.key for each in self.media]}
        if self.poll:
            more["attachments"] = {"poll_ids": [f"{self.id}1"]}
        if self.reply_to:
            more["referenced_tweets"] = [{"type": "replied_to", "id": self.reply_to}]
        default = {"id": self.id, "text": html.escape(text, quote=False), "edit_history_tweet_ids": self.history}
        return default | {name: value for name, value in more.items() if name in wanted}


class XStore:
    """The rows of the X stand-in by id."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.uploads: dict[str, Upload] = {}
        self.posts: dict[str, Post] = {}
        self._numbers = itertools.count(1)

    def new_id(self) -> str:
        """A new id of the X stand-in, a snowflake: the time and a growing number."""
        milliseconds = int(datetime.now(UTC).timestamp() * 1000) - EPOCH_MILLISECONDS
        return str((milliseconds << 22) + next(self._numbers))

    def person(self, username: str) -> Person:
        return next(each for each in self.people.values() if each.username == username)

    def add_person(self, username: str) -> Person:
        person = Person(str(next(self._numbers) + 2_244_994_944), username)
        self.people[person.id] = person
        return person

    def add_post(self, author: Person, text: str, **properties: Any) -> Post:
        post_id = self.new_id()
        whole: dict[str, Any] = {"media": [], "given": {}, "history": [post_id], **properties}
        post = Post(post_id, author, text, made_at=datetime.now(UTC), **whole)
        self.posts[post.id] = post
        return post

    def posts_of(self, person: Person) -> list[Post]:
        """The posts of the X account, oldest first."""
        return sorted((each for each in self.posts.values() if each.author is person), key=lambda each: int(each.id))


def _shortened(text: str, seed: str) -> tuple[str, list[dict[str, Any]]]:
    """The text of an X post with shortened links, and the entities of its URLs; a bare domain gets a protocol."""
    urls, shown, position = [], "", 0
    for number, found in enumerate(extract_urls_with_indices(text)):
        start, end = found["indices"]
        link, given = _short_link(f"{seed}{number}"), found["url"]
        expanded = given if "://" in given else f"http://{given}"
        urls.append({"start": start, "end": end, "url": link, "expanded_url": expanded, "display_url": given})
        shown, position = shown + text[position:start] + link, end
    return shown + text[position:], urls


def _short_link(seed: str) -> str:
    return f"https://t.co/{hashlib.sha256(seed.encode()).hexdigest()[:10]}"
