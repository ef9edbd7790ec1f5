"""The values that adapters take and give: plain, frozen, without models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

RetrySafety = Literal["idempotent", "verifiable", "at_most_once"]


@dataclass(frozen=True)
class TextRules:
    """How much text, and how this platform counts it (`count`; the limits that a second unit adds are in `also`)."""

    max_length: int
    counted_as: str  # graphemes, utf16, characters, weighted, bytes …
    count: Callable[[str], int]
    url_length: int | None = None
    also: tuple[tuple[str, int, Callable[[str], int]], ...] = ()


@dataclass(frozen=True)
class ImageRules:
    mime_types: tuple[str, ...]
    max_bytes: int
    max_count: int
    max_pixels: int | None = None


@dataclass(frozen=True)
class VideoRules:
    mime_types: tuple[str, ...]
    max_bytes: int
    max_duration_seconds: int | None = None
    max_count: int = 1


@dataclass(frozen=True)
class MediaRules:
    max_count: int
    mixed: bool = False
    images: ImageRules | None = None
    videos: VideoRules | None = None
    alt_text_max_length: int | None = None
    required: bool = False  # a post of text alone is impossible


@dataclass(frozen=True)
class Capabilities:
    """What a platform takes. Validation, repair hints, the capabilities endpoints and the composer all read this value.

    `options` is the JSON Schema of a target's `options`; `features` are names such as text, images, video, links.
    """

    text: TextRules
    media: MediaRules
    features: tuple[str, ...]
    retry_safety: RetrySafety
    options: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}, "additionalProperties": False}
    )
    links_url: Callable[[str], bool] | None = None  # whether the platform links (and charges for) a URL in the text


@dataclass(frozen=True)
class Identity:
    """Whose account it is at the platform; `external_id` never changes, the rest may."""

    external_id: str
    handle: str
    display_name: str = ""
    avatar_url: str = ""
    profile_url: str = ""


@dataclass(frozen=True)
class Grant:
    """What opens an account: `credentials` as the owner gave them, `tokens` as the platform issued them. Both are secret."""

    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, Any] = field(default_factory=dict, repr=False)
    external_id: str = ""


@dataclass(frozen=True)
class Connection:
    """A connection that the platform has accepted."""

    identity: Identity
    grant: Grant
    scopes: tuple[str, ...] = ()
    token_expires_at: datetime | None = None


@dataclass(frozen=True)
class Content:
    """What is to be published for one target.

    `key` is the target's id, the same at every attempt; `attempt` counts from 1 since the release or the last retry.
    """

    key: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1


@dataclass(frozen=True)
class Progress:
    """Where a publication stands between two steps; the engine stores it before the next step begins.

    `phase` names the step to come, `state` is what it needs (ids and frozen records, never bytes). `ready_at` postpones
    it (a platform that transcodes). A phase named in the platform's `irreversible` has its effect at most once per look.
    """

    phase: str
    state: Mapping[str, Any] = field(default_factory=dict)
    ready_at: datetime | None = None


@dataclass(frozen=True)
class Published:
    """The post is out."""

    external_id: str
    permalink: str
