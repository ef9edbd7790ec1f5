"""The composer's previews: a post as each chosen platform will show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from accounts.models import ConnectedAccount
from accounts.platforms.post_look import PostLook
from accounts.platforms.registry import get_adapter
from accounts.platforms.thread_option import texts_after_first_segment
from posts.dashboard.link_cards import LinkCard, link_card_of_target
from posts.dashboard.marked_text import mark_links_tags_and_mentions
from posts.dashboard.shown_groups import ShownAsset
from posts.validation import TargetToValidate

MAX_PREVIEW_CHARACTERS = 6000  # characters in one preview
MAX_PREVIEW_PICTURES = 4


@dataclass(frozen=True)
class PreviewSegment:
    """One post of a previewed thread, or the post itself: its text as HTML, and its length as the platform counts it."""

    text: SafeString
    length: int


@dataclass(frozen=True)
class PostPreview:
    """A post as a platform will show it to readers: author, title, texts, pictures, link card and poll.

    `segments` are the post itself and the further posts of a thread. `left_out` counts the characters that are
    not shown.
    """

    account: ConnectedAccount
    label: str
    look: PostLook
    title: str
    segments: list[PreviewSegment]
    left_out: int
    pictures: list[ShownAsset]
    card: LinkCard | None
    choices: tuple[str, ...]  # the choices of the poll

    @property
    def author_name(self) -> str:
        return self.account.display_name or self.account.handle or self.label

    @property
    def author_handle(self) -> str:
        """Return the handle of a previewed post's author as the platform writes it."""
        handle = self.account.handle.removeprefix("@")
        return f"@{handle}" if handle and self.look.at_sign else handle

    @property
    def shown_pictures(self) -> list[ShownAsset]:
        return self.pictures[: MAX_PREVIEW_PICTURES if self.look.media == "grid" else 1]

    @property
    def further_picture_count(self) -> int:
        return len(self.pictures) - len(self.shown_pictures)


def build_post_preview(target: TargetToValidate, pictures: list[ShownAsset], *, room: int) -> PostPreview:
    """Return a post's preview at one account; its texts are cut to `room` or MAX_PREVIEW_CHARACTERS, whichever is less."""
    adapter = get_adapter(target.account.platform)
    room = min(room, MAX_PREVIEW_CHARACTERS)
    texts = (target.shown_text, *texts_after_first_segment(target.options))
    count, features = target.capabilities.text.count, target.capabilities.features
    shown = []
    for text in texts:
        shown.append(text[:room])
        room -= len(shown[-1])
    return PostPreview(
        account=target.account,
        label=adapter.label,
        look=adapter.look,
        title=str(target.options.get(adapter.look.title_option, "")),
        segments=[
            PreviewSegment(mark_links_tags_and_mentions(part, features), target.cached(count, text))
            for part, text in zip(shown, texts, strict=True)
        ],
        left_out=sum(map(len, texts)) - sum(map(len, shown)),
        pictures=pictures,
        card=link_card_of_target(target),
        choices=_poll_choices(target),
    )


def _poll_choices(target: TargetToValidate) -> tuple[str, ...]:
    """Return the poll choices that a preview in the composer shows, at most as many as the platform allows."""
    rules: Any = target.capabilities.poll
    return tuple(target.poll["choices"][: rules.max_choices]) if rules and target.poll else ()
