"""Dataclasses that all platform adapters share, such as Capabilities, Content and Progress; they use no Django models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, BinaryIO, Literal

from accounts.platforms.option_media import OptionMediaRule
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.schemas import object_schema
from accounts.platforms.thread_rules import ThreadRules

RetrySafety = Literal["idempotent", "verifiable", "at_most_once"]
LinkPreview = Literal["platform", "service", "options", "none"]
MediaKind = Literal["image", "gif", "video", "document"]

State = Mapping[str, Any]  # of Progress
_SEGMENTS, _ACCEPTED, _PUBLISHED = "sent", "taken", "out"  # keys in the stored form of Progress


@dataclass(frozen=True)
class TextRules:
    """Dataclass of a platform's limits for the length of a post's text, such as 300 graphemes.

    `count` is the function that measures the length; `also` has limits in other units. `max_length_with_media` is the
    limit of a text that is the caption of media, if it differs; `max_length_with_images` that with images alone;
    `max_length_with_poll` that of a poll's question. `advised` are recommended limits, given as in `also`; a longer text
    gets a warning. `length_taken_by_options`: how much of the length the options use.
    """

    max_length: int
    counted_as: str  # graphemes, utf16, characters, weighted, bytes …
    count: Callable[[str], int]
    url_length: int | None = None
    additional_limits: tuple[tuple[str, int, Callable[[str], int]], ...] = ()
    advised_limits: tuple[tuple[str, int, Callable[[str], int]], ...] = ()
    max_length_with_media: int | None = None
    max_length_with_images: int | None = None
    max_length_with_poll: int | None = None
    length_taken_by_options: Callable[[Mapping[str, Any]], int] | None = None


@dataclass(frozen=True)
class FileLimits:
    """Dataclass of a platform's limits for files of one kind, such as videos: file types, size and number."""

    mime_types: tuple[str, ...]
    max_bytes: int
    max_count: int = 1


@dataclass(frozen=True)
class ImageRules(FileLimits):
    """Dataclass of a platform's limits for images and GIFs, such as pixels, and the ratio of width to height."""

    max_pixels: int | None = None
    max_side_sum: int | None = None  # width plus height
    min_ratio: float | None = None
    max_ratio: float | None = None


@dataclass(frozen=True)
class VideoRules(FileLimits):
    max_duration_seconds: int | None = None
    min_duration_seconds: int | None = None


@dataclass(frozen=True)
class MediaRules:
    """Dataclass of a platform's limits for the media of a post; it refuses media of a kind without limits.

    `gifs` None: an animated GIF is accepted as an image (some platforms show its first frame only). `none_because` explains
    to people why an account accepts no media, if other accounts of the platform do.
    """

    max_count: int
    mixed: bool = False
    images: ImageRules | None = None
    videos: VideoRules | None = None
    gifs: ImageRules | None = None
    documents: FileLimits | None = None
    alt_text_max_length: int | None = None
    required: bool = False  # a post of text alone is impossible
    max_total_bytes: int | None = None  # of all files of a post
    none_because: str = ""


@dataclass(frozen=True)
class PostingPace:
    """Dataclass of a platform's posting rate for an account: `burst` posts at once, then one post every `seconds`."""

    seconds: float
    burst: int = 1


@dataclass(frozen=True)
class Capabilities:
    """Dataclass of what a platform accepts in posts: texts, media, polls, threads and options.

    `options` is the JSON Schema of a target's `options`; `features` are names such as text, images, video, links.
    `not_possible` are sentences for people who plan a post, about features of the platform that are missing here.
    """

    text: TextRules
    media: MediaRules
    features: tuple[str, ...]
    retry_safety: RetrySafety
    options: Mapping[str, Any] = field(default_factory=object_schema)
    links_url: Callable[[str], bool] | None = None  # whether the platform links (and charges for) a URL in the text
    pace: PostingPace | None = None  # a target waits until its account may publish again
    thread: ThreadRules | None = None  # None: the platform has no threads
    poll: PollRules | None = None  # None: the platform has no polls
    link_preview: LinkPreview = "none"  # who creates the card of a link; "options": the post's options describe it
    not_possible: tuple[str, ...] = ()
    finds_people: bool = False  # whether the adapter has `Platform.find_people`
    media_for_options: Callable[[Mapping[str, Any]], MediaRules] | None = None  # the media rules with a target's options
    option_media: tuple[OptionMediaRule, ...] = ()  # options that need certain media
    withheld_options: Mapping[str, str] = field(default_factory=dict)  # reason for each option that the account may not use

    def media_rules_for_options(self, options: Mapping[str, Any]) -> MediaRules:
        """Return the MediaRules in these Capabilities for a post with the given options, which may be invalid."""
        return self.media_for_options(options) if self.media_for_options else self.media


@dataclass(frozen=True)
class Identity:
    """Dataclass of an account's identity at its platform: an `external_id` that never changes, and its names.

    `limits` are those of the account's own server (AccountLimitsAndScopes); empty if servers do not differ or did not answer.
    """

    external_id: str
    handle: str
    display_name: str = ""
    avatar_url: str = ""
    profile_url: str = ""
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class AccountLimitsAndScopes:
    """Dataclass of what adapters know of a connected account without its secrets: id, server limits, OAuth scopes."""

    external_id: str
    limits: Mapping[str, int] = field(default_factory=dict)
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grant:
    """Dataclass of the secrets that adapters use for an account: the owner's `credentials`, and the platform's `tokens`.

    The access token is renewed before `expires_at`, if the platform names it. `limits` are as last read (Identity).
    """

    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, Any] = field(default_factory=dict, repr=False)
    external_id: str = ""
    expires_at: datetime | None = field(default=None, compare=False)
    limits: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class OAuthAuthorizationRequest:
    """Dataclass with which an adapter begins OAuth: the URL at which the owner grants access, and data to store."""

    url: str
    stored: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class AuthorizedAccount:
    """Dataclass that adapters return for a connected account: its identity, and the secrets that give access to it."""

    identity: Identity
    grant: Grant
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MediaInfo:
    """Dataclass of a media asset for adapters, without its file: bytes, sides in pixels, duration in milliseconds."""

    kind: MediaKind
    mime_type: str
    size_bytes: int
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None
    alt_text: str = ""


@dataclass(frozen=True)
class MediaFile(MediaInfo):
    """Dataclass of a media asset for adapters, with access to its file.

    `open` returns the file at its start. `url` is a signed public URL, valid for a day. `filename` is safe in a header.
    """

    id: str = ""
    filename: str = ""
    url: str = ""
    open: Callable[[], AbstractContextManager[BinaryIO]] = field(default=lambda: _closed(), repr=False, compare=False)


def _closed() -> AbstractContextManager[BinaryIO]:
    raise ValueError("This media file was made without its bytes.")


@dataclass(frozen=True)
class Content:
    """Dataclass of what an adapter publishes to one account: the text, media and options of the post.

    `key` is the target's id. `attempt` counts from 1 since the release or the last retry. `media` is in the order shown.
    """

    key: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    attempt: int = 1
    media: tuple[MediaFile, ...] = ()


@dataclass(frozen=True)
class Published:
    """Dataclass that an adapter returns for a published post; `note` says what is missing, such as the first comment."""

    external_id: str
    permalink: str
    note: str = ""


@dataclass(frozen=True)
class Progress:
    """Dataclass of the stored progress of publishing: the adapter's next step, and the data that this step needs.

    `phase` names the next step. `state` is read only by the adapter (ids and frozen records, never bytes). `ready_at`
    postpones the step. An `irreversible` phase is repeated only if `find_or_rule_out_published_post` allows it.

    `segments` are the platform's references to a thread's published posts, in order; with any, publishing never begins again
    at the first post. `accepted`: only the platform can still reject the post. `published` is the published post, if only a
    later addition such as the first comment is missing, which may fail.
    """

    phase: str
    state: State = field(default_factory=dict)
    ready_at: datetime | None = None
    segments: tuple[Any, ...] = ()
    accepted: bool = False
    published: Published | None = None

    def with_next_step(self, phase: str, state: State, *, ready_at: datetime | None = None) -> Progress:
        """Return a copy of this Progress dataclass with a new next step; the posts published so far are kept."""
        return replace(self, phase=phase, state=state, ready_at=ready_at)

    def to_stored(self) -> dict[str, Any]:
        """Return this Progress dataclass as JSON for the database column `progress`.

        `phase` and `ready_at` have columns of their own, and the note of `published` is not stored.
        """
        post = self.published
        out = {"external_id": post.external_id, "permalink": post.permalink} if post else None
        known = {_ACCEPTED: self.accepted, _PUBLISHED: out}
        return {**self.state, _SEGMENTS: [*self.segments], **{name: value for name, value in known.items() if value}}

    @classmethod
    def from_stored(cls, phase: str, stored: Mapping[str, Any]) -> Progress:
        """Return a Progress dataclass built from a phase and from the JSON in the database column `progress`."""
        state = dict(stored)
        segments, accepted, out = (state.pop(name, None) for name in (_SEGMENTS, _ACCEPTED, _PUBLISHED))
        return cls(phase, state, None, tuple(segments or ()), bool(accepted), Published(**out) if out else None)


@dataclass(frozen=True)
class UploadNotPublishedProof:
    """Dataclass of a proof that a post is not published: the `status` that the platform reports for its upload."""

    status: str


@dataclass(frozen=True)
class MissingFromListProof:
    """Dataclass of a proof that a post is not published: it is missing from the platform's complete list of posts.

    `back_to`: how far the list was read, which is before the first attempt. `kind_evidence`: why the list contains posts of
    this kind for this account: such a post was seen in it, or the platform documents it.
    """

    back_to: str
    kind_evidence: str


@dataclass(frozen=True)
class NotPublishedProof:
    """Dataclass that an adapter returns if a post is certainly not published; finding nothing is not enough as `proof`."""

    proof: UploadNotPublishedProof | MissingFromListProof
