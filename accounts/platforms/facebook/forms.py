"""What a post becomes at Facebook, by its media and its option `post_type`, and what does not go together."""

from __future__ import annotations

from typing import Literal

from accounts.platforms.errors import ContentRejected
from accounts.platforms.types import Content

Form = Literal["text", "photos", "video", "reel", "photo_story", "video_story"]
OF_A_VIDEO: frozenset[Form] = frozenset({"video", "reel", "video_story"})
STORIES: frozenset[Form] = frozenset({"photo_story", "video_story"})
MAX_SECONDS: dict[Form, int] = {"reel": 90, "video_story": 60}
MIN_SECONDS = 3


def form_of(content: Content) -> Form:
    """What the content becomes; `check` has seen that it can."""
    kind = content.options.get("post_type", "post")
    if kind == "reel":
        return "reel"
    moving = bool(content.media) and content.media[0].kind == "video"
    if kind == "story":
        return "video_story" if moving else "photo_story"
    return "video" if moving else "photos" if content.media else "text"


def check(content: Content) -> None:
    """Raise ContentRejected for what Facebook would refuse, before anything is uploaded."""
    kind, options = content.options.get("post_type", "post"), content.options
    kinds = [file.kind for file in content.media]
    if kind == "reel" and kinds != ["video"]:
        raise ContentRejected("A reel is one video.", suggested_action="Attach one video, or leave `post_type` out.")
    if kind == "story" and kinds not in (["image"], ["video"]):
        raise ContentRejected(
            "A story is one photo or one video.", suggested_action="Attach one file, or leave `post_type` out."
        )
    if "link" in options and kinds:
        raise ContentRejected(
            "Facebook shows a link with a preview, or media.", suggested_action="Leave the link or the media out."
        )
    if "title" in options and kinds != ["video"]:
        raise ContentRejected("Only a video has a title.", suggested_action="Leave the title out.")
    if kind == "story" and options.keys() & {"first_comment", "title"}:
        raise ContentRejected(
            "A story takes no comment and no title.", suggested_action="Leave `first_comment` and `title` out."
        )
    if not kinds and not content.text.strip() and "link" not in options:
        raise ContentRejected("There is neither text nor media.")
    _check_length(content)


def _check_length(content: Content) -> None:
    form = form_of(content)
    if form not in MAX_SECONDS:
        return
    milliseconds, most = content.media[0].duration_ms, MAX_SECONDS[form]
    if milliseconds is not None and not MIN_SECONDS * 1000 <= milliseconds <= most * 1000:
        what = "reel" if form == "reel" else "story"
        raise ContentRejected(
            f"The video lasts {milliseconds / 1000:g} seconds; a {what} lasts {MIN_SECONDS} to {most}.",
            suggested_action=f"Cut it to {most} seconds, or publish it as a post.",
        )
