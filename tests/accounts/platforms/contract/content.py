"""The kinds of posts that a platform takes, by its capabilities, and one of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Content, MediaFile
from posts.models import PostTarget
from tests.accounts.platforms.contract.world import Post, World
from tests.accounts.platforms.media_files import media_file
from tests.conftest import ApiClient
from tests.media.document_files import pdf
from tests.media.pictures import gif, jpeg
from tests.media.video_files import movie, movie_header, track
from tests.posts.rows import body_for

SECONDS = 6  # as long as any platform asks of a video


@dataclass(frozen=True)
class File:
    """A file of a post."""

    kind: str
    mime_type: str
    content: bytes
    alt_text: str = ""

    @property
    def filename(self) -> str:
        return f"file.{self.mime_type.rpartition('/')[2]}"


VIDEO = File("video", "video/mp4", movie(track(duration=SECONDS * 1000), header=movie_header(duration=SECONDS * 1000)))
FILES: Mapping[str, tuple[File, ...]] = {
    "text": (),
    "image": (File("image", "image/jpeg", jpeg(640, 480), "A bench"),),
    "images": (
        File("image", "image/jpeg", jpeg(640, 480), "A bench"),
        File("image", "image/jpeg", jpeg(640, 480, colour="orange"), "A lathe at work"),
    ),
    "gif": (File("gif", "image/gif", gif()),),
    "video": (VIDEO,),
    "document": (File("document", "application/pdf", pdf()),),
    "poll": (),
}
POLL: Mapping[str, Any] = {"choices": ["The bench", "The lathe"], "duration_minutes": 60}


def kinds_of(world: World | type[World]) -> list[str]:
    """What the world's server takes, the plainest first."""
    capabilities = get_adapter(world.name).capabilities
    rules = capabilities.media
    taken = {
        "text": not rules.required,
        "image": rules.images is not None,
        "images": rules.images is not None and min(rules.images.max_count, rules.max_count) > 1,
        "gif": rules.gifs is not None,
        "video": rules.videos is not None,
        "document": rules.documents is not None,
        "poll": capabilities.poll is not None,
    }
    return [kind for kind, is_taken in taken.items() if is_taken and kind not in world.takes_no]


def plainest(world: World) -> str:
    """The kind of post that takes the least."""
    return world.plain or kinds_of(world)[0]


def post(api: ApiClient, world: World, account: ConnectedAccount, text: str = "Hello", kind: str = "") -> PostTarget:
    """The target of a post of this kind, or of the plainest, made over the API."""
    kind = kind or plainest(world)
    if kind not in world.uploaded:
        world.uploaded[kind] = [_uploaded(api, file) for file in FILES[kind]]
    body = body_for(account, text=text, media=[{"media_id": media_id} for media_id in world.uploaded[kind]])
    body["targets"][0]["options"] = _options(world, kind)
    made = api.post("/posts", body)
    assert made.status_code == 201, made.content
    return PostTarget.objects.get(group_id=made.json()["post_group"]["id"])


def ended(target: PostTarget) -> tuple[str, str | None]:
    """The target's status and its error's code, as they are now."""
    target.refresh_from_db()
    return target.status, (target.error or {}).get("code")


def content(world: World, text: str = "Hello", kind: str = "") -> Content:
    """Such a post as adapters are given it."""
    kind = kind or plainest(world)
    files = FILES[kind]
    return Content(f"tgt_{text}", text, _options(world, kind), media=tuple(_as_given(world, file) for file in files))


def shown(world: World, text: str, kind: str) -> Post:
    """Such a post as the platform shows it."""
    alts: dict[str, Any] = {"all": lambda index: True, "first": lambda index: not index, "none": lambda index: False}
    has_alt_text = alts[world.shows_alt_texts]
    files = FILES[kind or plainest(world)]
    shown_files = tuple((file.content, (has_alt_text(n) and file.alt_text) or None) for n, file in enumerate(files))
    return Post(text, shown_files, tuple(POLL["choices"]) if kind == "poll" else ())


def _options(world: World, kind: str) -> dict[str, Any]:
    return {**world.options, "poll": POLL} if kind == "poll" else dict(world.options)


def _uploaded(api: ApiClient, file: File) -> str:
    answer = api.upload(file.content, filename=file.filename, alt_text=file.alt_text)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["media"]["id"])


def _as_given(world: World, file: File) -> MediaFile:
    duration = SECONDS * 1000 if file.kind == "video" else None
    details = {"kind": file.kind, "alt_text": file.alt_text, "duration_ms": duration, "width": 640, "height": 480}
    url = world.serve(file.content, file.filename)
    return media_file(file.content, file.mime_type, url=url, filename=file.filename, **details)
