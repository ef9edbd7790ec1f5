"""TikTok's posts in the stand-in: announced, their videos sent in chunks or their photos fetched, and processed.

Written from developers.tiktok.com: query creator info, direct post, photo post, media transfer guide, get post status.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.http_server import Answer, ReceivedRequest

MEGABYTE = 1_000_000
ADDRESS_LIVES = timedelta(hours=1)
VIDEO_TYPES = {"video/mp4", "video/quicktime", "video/webm"}
PUBLIC_LEVELS = ["PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"]
PRIVATE_LEVELS = ["FOLLOWER_OF_CREATOR", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"]
FLAGS = {"disable_comment", "disable_duet", "disable_stitch", "brand_content_toggle", "brand_organic_toggle", "is_aigc"}
VIDEO_INFO = FLAGS | {"title", "privacy_level", "video_cover_timestamp_ms"}
PHOTO_FLAGS = {"disable_comment", "brand_content_toggle", "brand_organic_toggle", "auto_add_music"}
PHOTO_INFO = PHOTO_FLAGS | {"title", "description", "privacy_level"}
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class TikTokRefusal(Exception):
    """An error response of TikTok's API."""

    def __init__(self, status: int, code: str, message: str = "The request was refused.") -> None:
        super().__init__(code)
        self.status, self.code, self.message = status, code, message

    def answer(self) -> Answer:
        """The error as an HTTP response."""
        error = {"code": self.code, "message": self.message, "log_id": "2026"}
        return Answer.of_json({"data": {}, "error": error}, self.status)


def ok(data: dict[str, Any]) -> Answer:
    """A successful response of TikTok's API."""
    return Answer.of_json({"data": data, "error": {"code": "ok", "message": "", "log_id": "2026"}})


@dataclass
class Person:
    """A creator, with the settings that the app has to respect."""

    name: str
    private: bool = False
    disabled: set[str] = field(default_factory=set)  # comment, duet, stitch
    longest_seconds: int = 600

    @property
    def levels(self) -> list[str]:
        return PRIVATE_LEVELS if self.private else PUBLIC_LEVELS


@dataclass
class Post:
    """An announced post. `checks_left`: status checks until it ends, `checks_for_id`: and further ones until it has an id."""

    publish_id: str
    person: str
    info: dict[str, Any]
    urls: list[str]
    checks_left: int
    checks_for_id: int
    fail_reason: str | None
    total: int = 0
    chunk: int = 0
    count: int = 0
    content: bytes = b""
    ends: datetime = field(default_factory=lambda: datetime.now(UTC) + ADDRESS_LIVES)
    id: int = field(default_factory=lambda: 7_000_000_000_000_000_000 + secrets.randbelow(10**15))

    @property
    def is_whole(self) -> bool:
        return len(self.content) == self.total


@dataclass
class Posts:
    """The posts of all creators. `site` is the address for chunks, `verified` the prefix of photos' URLs."""

    site: str
    posts: dict[str, Post] = field(default_factory=dict)
    processing: tuple[int, int, str | None] = (0, 0, None)
    verified: str = "https://media.service.example/"
    audited: bool = True
    posts_left: int = 15
    shows_received: bool = True

    def creator(self, person: Person, request: ReceivedRequest) -> Answer:
        """Return what the creator may post."""
        return ok(
            {
                "creator_username": person.name,
                "creator_nickname": person.name.title(),
                "creator_avatar_url": f"https://p16-sign.tiktokcdn.com/{person.name}.jpeg",
                "privacy_level_options": person.levels,
                **{f"{what}_disabled": what in person.disabled for what in ("comment", "duet", "stitch")},
                "max_video_post_duration_sec": person.longest_seconds,
            }
        )

    def video(self, person: Person, request: ReceivedRequest) -> Answer:
        """Announce a video."""
        given = request.json()
        info, source = given.pop("post_info"), given.pop("source_info")
        if given or set(info) - VIDEO_INFO or _length(info.get("title", "")) > 2200 or not _are_flags(info, FLAGS):
            raise TikTokRefusal(400, "invalid_params")
        if set(source) != {"source", "video_size", "chunk_size", "total_chunk_count"} or source["source"] != "FILE_UPLOAD":
            raise TikTokRefusal(400, "invalid_params")
        size, chunk, count = source["video_size"], source["chunk_size"], source["total_chunk_count"]
        if not _is_plan(size, chunk, count):
            raise TikTokRefusal(400, "invalid_params", "The chunk size is invalid")
        self._check(person, info, {"comment", "duet", "stitch"})
        post = self._add(person, info, [])
        post.total, post.chunk, post.count = size, chunk, count
        address = f"{self.site}/video/?upload_id={post.publish_id}&upload_token={secrets.token_urlsafe(9)}"
        return ok({"publish_id": post.publish_id, "upload_url": address})

    def photos(self, person: Person, request: ReceivedRequest) -> Answer:
        """Announce photos, which are fetched and posted."""
        given = request.json()
        info, source = given.pop("post_info"), given.pop("source_info")
        urls = source.get("photo_images", [])
        wrong = [
            given != {"media_type": "PHOTO", "post_mode": "DIRECT_POST"},
            bool(set(info) - PHOTO_INFO) or not _are_flags(info, PHOTO_FLAGS),
            _length(info.get("title", "")) > 90 or _length(info.get("description", "")) > 4000,
            source.get("source") != "PULL_FROM_URL" or not 1 <= len(urls) <= 35,
            source.get("photo_cover_index") not in range(len(urls)),
        ]
        if any(wrong):
            raise TikTokRefusal(400, "invalid_params")
        if not all(url.startswith(self.verified) for url in urls):
            raise TikTokRefusal(403, "url_ownership_unverified")
        self._check(person, info, {"comment"})
        return ok({"publish_id": self._add(person, info, urls).publish_id})

    def chunk(self, request: ReceivedRequest) -> Answer:
        """Receive the next chunk of a video."""
        post = self.posts.get(request.query.get("upload_id", ""))
        if post is None:
            return Answer(404)
        if datetime.now(UTC) >= post.ends:
            return Answer(403)
        content_range = _RANGE.fullmatch(request.headers.get("content-range", ""))
        if (
            content_range is None
            or request.headers.get("content-type") not in VIDEO_TYPES
            or "authorization" in request.headers
        ):
            return Answer(400)
        start, end, total = (int(number) for number in content_range.groups())
        if total != post.total or end - start + 1 != len(request.body):
            return Answer(400)
        is_last = start == (post.count - 1) * post.chunk
        if start != len(post.content) or end + 1 != (total if is_last else start + post.chunk):
            return Answer(416)
        post.content += request.body
        return Answer(201 if post.is_whole else 206, b"", {"Content-Range": f"bytes 0-{end}/{total}"})

    def status(self, person: Person, request: ReceivedRequest) -> Answer:
        """Return the status of a post; each check brings processing nearer to its end."""
        post = self.posts.get(request.json().get("publish_id", ""))
        if post is None or post.person != person.name:
            raise TikTokRefusal(400, "invalid_publish_id", "The publish_id does not exist")
        received = {"uploaded_bytes": len(post.content)} if post.total and self.shows_received else {}
        if not post.is_whole or post.checks_left > 0:
            post.checks_left -= post.is_whole
            under_way = "PROCESSING_UPLOAD" if post.total else "PROCESSING_DOWNLOAD"
            return ok({"status": under_way, **received})
        if post.fail_reason:
            return ok({"status": "FAILED", "fail_reason": post.fail_reason, **received})
        fields = {"status": "PUBLISH_COMPLETE", **received}
        if post.info["privacy_level"] != "PUBLIC_TO_EVERYONE":
            return ok(fields)
        post.checks_for_id -= 1
        return ok(fields | {"publicaly_available_post_id": [post.id]} if post.checks_for_id < 0 else fields)

    def published(self, person: str) -> list[Post]:
        """The published posts of a person."""
        mine = [post for post in self.posts.values() if post.person == person]
        return [post for post in mine if post.is_whole and not post.fail_reason]

    def _check(self, person: Person, info: dict[str, Any], interactions: set[str]) -> None:
        if info.get("privacy_level") not in person.levels:
            raise TikTokRefusal(400, "privacy_level_option_mismatch")
        if any(not info.get(f"disable_{what}") for what in person.disabled & interactions):
            raise TikTokRefusal(400, "invalid_params", "The creator does not allow this interaction")
        if not self.audited and not (person.private and info["privacy_level"] == "SELF_ONLY"):
            raise TikTokRefusal(403, "unaudited_client_can_only_post_to_private_accounts")
        if self.posts_left <= 0:
            raise TikTokRefusal(403, "spam_risk_too_many_posts")

    def _add(self, person: Person, info: dict[str, Any], urls: list[str]) -> Post:
        self.posts_left -= 1
        checks, checks_for_id, fail_reason = self.processing
        publish_id = f"{'p' if urls else 'v'}_pub_url~v2-1.{secrets.randbelow(10**12)}"
        self.posts[publish_id] = Post(publish_id, person.name, info, urls, checks, checks_for_id, fail_reason)
        return self.posts[publish_id]


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _are_flags(info: dict[str, Any], flags: set[str]) -> bool:
    return all(isinstance(info[name], bool) for name in flags & set(info))


def _is_plan(size: int, chunk: int, count: int) -> bool:
    """Whether a video may be sent in chunks like these."""
    if count == 1:
        return chunk == size <= 64 * MEGABYTE
    return 5 * MEGABYTE <= chunk <= 64 * MEGABYTE and count == size // chunk <= 1000
