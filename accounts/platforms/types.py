"""The values that adapters take and give: plain, frozen, without models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, Literal

from accounts.platforms.poll_rules import PollRules

RetrySafety = Literal["idempotent", "verifiable", "at_most_once"]
LinkPreview = Literal["platform", "service", "options", "none"]
MediaKind = Literal["image", "gif", "video", "document"]

TAKEN, OUT = "taken", "out"  # names in the state of Progress


@dataclass(frozen=True)
class TextRules:
    """How much text, and how this platform counts it (`count`; the limits that a second unit adds are in `also`).

    `max_length_with_media` is the limit of a text that goes out as the caption of media, where that is another one;
    `max_length_with_images` is the limit with images alone, where it differs from that with other media.
    `max_length_with_poll` is the limit of a text that is the question of a poll, where that is another one.
    `advised` are limits in such units that the platform recommends: beyond them there is a warning.
    `taken_by_options` says how much of the room a target's options take up (a content warning).
    """

    max_length: int
    counted_as: str  # graphemes, utf16, characters, weighted, bytes …
    count: Callable[[str], int]
    url_length: int | None = None
    also: tuple[tuple[str, int, Callable[[str], int]], ...] = ()
    advised: tuple[tuple[str, int, Callable[[str], int]], ...] = ()
    max_length_with_media: int | None = None
    max_length_with_images: int | None = None
    max_length_with_poll: int | None = None
    taken_by_options: Callable[[Mapping[str, Any]], int] | None = None


@dataclass(frozen=True)
class ThreadRules:
    """A post may go on in further ones, each a reply to the one before: the option `thread` (accounts/platforms/chains.py).

    `max_segments` counts the post itself. Each segment has the room of a post of text alone. `distinct`: one that repeats
    another is refused by the platform. `each_billed`: the platform bills every segment as a post. `unproven`: a sentence for
    people that says why a thread may fail, where nobody has published one yet; empty where threads are known to go out.
    """

    max_segments: int
    distinct: bool = False
    each_billed: bool = False
    unproven: str = ""


@dataclass(frozen=True)
class ImageRules:
    """Still images, and animated ones in MediaRules.gifs. Ratios are width through height; sides are in pixels."""

    mime_types: tuple[str, ...]
    max_bytes: int
    max_count: int
    max_pixels: int | None = None
    max_side_sum: int | None = None  # width and height together
    min_ratio: float | None = None
    max_ratio: float | None = None


@dataclass(frozen=True)
class VideoRules:
    mime_types: tuple[str, ...]
    max_bytes: int
    max_duration_seconds: int | None = None
    max_count: int = 1
    min_duration_seconds: int | None = None


@dataclass(frozen=True)
class DocumentRules:
    mime_types: tuple[str, ...]
    max_bytes: int
    max_count: int = 1


@dataclass(frozen=True)
class MediaRules:
    """Which media a post may carry. A kind whose rules are None is not taken; `mixed` allows several kinds in one post.

    `gifs` None: an animated GIF is taken as an image (some platforms show its first frame only). `none_because` tells
    people why an account takes no media at all, where other accounts of the platform do.
    """

    max_count: int
    mixed: bool = False
    images: ImageRules | None = None
    videos: VideoRules | None = None
    gifs: ImageRules | None = None
    documents: DocumentRules | None = None
    alt_text_max_length: int | None = None
    required: bool = False  # a post of text alone is impossible
    max_total_bytes: int | None = None  # of all files of a post together
    none_because: str = ""


@dataclass(frozen=True)
class Pace:
    """How fast one account may be posted to: `burst` at once, then one each `seconds`."""

    seconds: float
    burst: int = 1


@dataclass(frozen=True)
class Capabilities:
    """What a platform takes. Validation, repair hints, the capabilities endpoints and the composer all read this value.

    `options` is the JSON Schema of a target's `options`; `features` are names such as text, images, video, links.
    `not_possible` are sentences for people who plan a post: what they might expect of the platform and cannot have here.
    """

    text: TextRules
    media: MediaRules
    features: tuple[str, ...]
    retry_safety: RetrySafety
    options: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}, "additionalProperties": False}
    )
    links_url: Callable[[str], bool] | None = None  # whether the platform links (and charges for) a URL in the text
    pace: Pace | None = None  # a target waits for its turn at its account
    thread: ThreadRules | None = None  # None: a post is one post
    poll: PollRules | None = None  # None: there are no polls
    link_preview: LinkPreview = "none"  # who makes the card of a link: "options" are what the post says of it
    not_possible: tuple[str, ...] = ()
    media_with: Callable[[Mapping[str, Any]], MediaRules] | None = (
        None  # the media rules that a target's options choose
    )
    withheld: Mapping[str, str] = field(default_factory=dict)  # options that the account may not use: why not, by name

    def media_for(self, options: Mapping[str, Any]) -> MediaRules:
        """The media rules of a target with these options, which are not validated yet."""
        return self.media_with(options) if self.media_with else self.media


@dataclass(frozen=True)
class Identity:
    """Whose account it is at the platform; `external_id` never changes, the rest may.

    `limits` is what the account's own server takes (AccountDetails); empty where servers do not differ or did not answer.
    """

    external_id: str
    handle: str
    display_name: str = ""
    avatar_url: str = ""
    profile_url: str = ""
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class AccountDetails:
    """What is known of a connected account without opening its secrets: `limits` of its server (Identity), and the `scopes`
    of its grant, empty where there are none, as for sandbox accounts."""

    external_id: str
    limits: Mapping[str, int] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grant:
    """What opens an account: `credentials` as the owner gave them, `tokens` as the platform issued them. Both are secret.

    `expires_at`: when the access token ends, where the platform says so; it is renewed ahead of that. `limits` are the
    account's (Identity), as they were last read.
    """

    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, Any] = field(default_factory=dict, repr=False)
    external_id: str = ""
    expires_at: datetime | None = field(default=None, compare=False)
    limits: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Authorization:
    """The page where the owner grants access, and what to store for the exchange (a PKCE verifier, an app's secret)."""

    url: str
    stored: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Connection:
    """A connection that the platform has accepted."""

    identity: Identity
    grant: Grant
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MediaInfo:
    """What is known of a media asset without opening it; sizes in bytes, pixels and milliseconds."""

    kind: MediaKind
    mime_type: str
    size_bytes: int
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None
    alt_text: str = ""


@dataclass(frozen=True)
class MediaFile(MediaInfo):
    """A media asset of a post. `open` gives its bytes as a file read from the start; `url` is a signed public address
    of it, good for a day, for platforms that fetch. `filename` is a label, safe in a multipart header."""

    id: str = ""
    filename: str = ""
    url: str = ""
    open: Callable[[], AbstractContextManager[BinaryIO]] = field(default=lambda: _closed(), repr=False, compare=False)


def _closed() -> AbstractContextManager[BinaryIO]:
    raise ValueError("This media file was made without its bytes.")


@dataclass(frozen=True)
class Content:
    """What is to be published for one target.

    `key` is the target's id, the same at every attempt; `attempt` counts from 1 since the release or the last retry.
    `media` is in the order in which it is shown.
    """

    key: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    media: tuple[MediaFile, ...] = ()


@dataclass(frozen=True)
class Progress:
    """Where a publication stands between two steps; the engine stores it before the next step begins.

    `phase` names the step to come, `state` is what it needs (ids and frozen records, never bytes). `ready_at` postpones
    it (a platform that transcodes). A phase named in the platform's `irreversible` has its effect at most once per look.

    Of a thread, `sent` in the state lists the segments that are out, in order and whatever the platform names them by:
    the engine reads its length, tells it to people, and never begins such a publication anew.
    `TAKEN: True` in the state says that the platform has taken the post and will show it unless it rejects it, so that it
    is not called failed for anything else. `OUT: {external_id, permalink}` says that it stands: whatever befalls the
    steps that follow (a first comment), it ends as published, with a note of what is missing.
    """

    phase: str
    state: Mapping[str, Any] = field(default_factory=dict)
    ready_at: datetime | None = None


@dataclass(frozen=True)
class Published:
    """The post is out; `note` tells a person what is missing about it (its first comment, or its address)."""

    external_id: str
    permalink: str
    note: str = ""


@dataclass(frozen=True)
class AskedById:
    """The platform was asked about the object that becomes the post (a container, an upload session, a video): it answered
    with this `status`, which means that the object is not published."""

    status: str


@dataclass(frozen=True)
class CompleteList:
    """A list of the account's posts, read in full, does not hold the post.

    `back_to`: how far it was read, which is further than the first try. `kind_listed`: how it is known that the list holds
    posts of this kind for this account: a post of the kind that was seen in it, or the platform's documentation.
    """

    back_to: str
    kind_listed: str


@dataclass(frozen=True)
class Absent:
    """What `Platform.find` answers when the post is certainly not at the platform, and why. The step is then taken again,
    so a look that found nothing is not enough: where the proof is missing, `find` raises OutcomeUnknown."""

    proof: AskedById | CompleteList
