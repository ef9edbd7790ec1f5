"""The dataclass PostLook, which says how a platform arranges a post, for the preview in the composer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PostLook:
    """How a platform arranges a post that it shows; the preview in the composer is arranged in the same way.

    `layout`: a post in a feed, a message in a chat, or a post whose media come before its text. `media`: a grid, or one frame
    that is square, tall or wide. `at_sign`: handles are shown with an @. `title_option` holds the title, and `card_option`
    describes the link card or names its page. `card_off` is an option with the value that leaves the card out.
    """

    layout: Literal["feed", "chat", "media-first"] = "feed"
    media: Literal["grid", "square", "tall", "wide"] = "grid"
    at_sign: bool = True
    title_option: str = ""
    card_option: str = ""
    card_off: tuple[str, bool] | None = None
