"""The further posts of a thread in the composer: a text field for each, and buttons that add, remove, move and split them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from accounts.platforms.counting import ELLIPSIS, cut_to_limit
from accounts.platforms.thread_option import OPTION_NAME
from accounts.platforms.types import Capabilities, TextRules
from posts.dashboard.inputs import normalize_newlines_and_nul

CHARACTERS_READ_PER_UNIT = 20  # of a long text when it is split; one emoji can consist of many characters


@dataclass(frozen=True)
class ThreadFocus:
    """The composer control to focus after a thread button: a button, or the field `text`, of the further post at `place`."""

    control: str
    place: int


def thread_option_from_form(sent: QueryDict, account_id: str) -> dict[str, Any]:
    """Return the option `thread` that is entered in the composer for an account; an empty dict without further posts."""
    texts = [normalize_newlines_and_nul(text) for text in sent.getlist(f"thread-{account_id}")]
    return {OPTION_NAME: [{"text": text} for text in texts]} if texts else {}


def separate_thread_from_options(capabilities: Capabilities, options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Split a target's options for the composer: those other than `thread`, and the texts of the thread's further posts.

    A thread that the composer's fields cannot show stays among the options.
    """
    given = options.get(OPTION_NAME)
    if capabilities.thread is None or not isinstance(given, list) or not all(_is_segment(each) for each in given):
        return dict(options), []
    return {name: value for name, value in options.items() if name != OPTION_NAME}, [each["text"] for each in given]


def apply_thread_button(
    capabilities: Capabilities, target: dict[str, Any], shared_text: str, change: str, place: str
) -> ThreadFocus:
    """Change the thread of a post target as a button of the composer says: add, remove, up, down or split.

    `number` only numbers the posts again, after they were dragged. `place` is the number of the further post, from 0.
    Splitting divides each text that is too long, and the target then has a text of its own if its first post was divided. An
    unknown button or place changes nothing. Returns what gets the focus.
    """
    rules = capabilities.thread
    target["options"], texts = separate_thread_from_options(capabilities, target["options"])
    index = int(place) if place.isdecimal() and len(place) < 4 else -1
    match change:
        case "add" if rules and len(texts) < rules.max_segments - 1:
            texts.append("")
        case "remove" if 0 <= index < len(texts):
            del texts[index]
        case "up" if 0 < index < len(texts):
            texts.insert(index - 1, texts.pop(index))
        case "down" if 0 <= index < len(texts) - 1:
            texts.insert(index + 1, texts.pop(index))
        case "split" if rules:
            first = shared_text if target["text"] is None else target["text"]
            divided, *texts = divide_too_long_thread_texts([first, *texts], capabilities.text, rules.max_segments)
            target["text"] = target["text"] if divided == first else divided
    if texts:
        target["options"][OPTION_NAME] = [{"text": text} for text in texts]
    return _focus_after(change, index, len(texts))


def _focus_after(change: str, index: int, count: int) -> ThreadFocus:
    """Return the composer control that gets the focus after a thread button is clicked, such as the moved post's button."""
    match change:
        case "up" if index > 1:
            return ThreadFocus("up", index - 1)
        case "up" if count > 1:
            return ThreadFocus("down", 0)
        case "down" if index + 2 < count:
            return ThreadFocus("down", index + 1)
        case "down" if count > 1:
            return ThreadFocus("up", count - 1)
        case "remove" if count:
            return ThreadFocus("text", min(index, count - 1))
        case "add" if count:
            return ThreadFocus("text", count - 1)
        case "number":
            return ThreadFocus("", 0)
    return ThreadFocus("split" if change == "split" else "add", 0)


def divide_too_long_thread_texts(texts: Sequence[str], rules: TextRules, most: int) -> list[str]:
    """Split the composer's fields of a thread: divide too long texts between words, into `most` texts at most.

    What does not fit into that many posts stays in the last one.
    """
    segments: list[str] = []
    for position, text in enumerate(texts):
        later, rest = len(texts) - position - 1, text
        while len(segments) + later + 1 < most:
            head = _fitting_beginning(rest, rules)
            if not head or head == rest:
                break
            segments.append(head)
            rest = rest[len(head) :].lstrip()
        segments.append(rest)
    return segments


def _fitting_beginning(text: str, rules: TextRules) -> str:
    """Return the beginning of a thread's text that fits into one post, cut between words; the text itself if it fits."""
    beginning = text[: CHARACTERS_READ_PER_UNIT * rules.max_length]
    for _, limit, count in ((rules.counted_as, rules.max_length, rules.count), *rules.additional_limits):
        cut = cut_to_limit(beginning, limit, count)
        beginning = beginning if cut == beginning else cut.removesuffix(ELLIPSIS).rstrip()
    return beginning


def _is_segment(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"text"} and isinstance(value["text"], str)
