"""The segments of a thread: the post itself, and those that reply to it one after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accounts.platforms.counting import has_linked_url, weighted
from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, TokenExpired, Transient
from accounts.platforms.types import Content
from accounts.platforms.x.capabilities import MAX_CASHTAGS, MAX_WEIGHT, cashtags


class PartlyOut(OutcomeUnknown):
    """Some segments of a thread are out, so that the rest may be sent again but the whole must not."""

    def __init__(self, message: str, *, final: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message, final=final)
        self.retry_after = retry_after


def segments(content: Content) -> tuple[str, ...]:
    """The texts that go out as posts of their own, in order."""
    return (content.text, *(segment["text"] for segment in content.options.get("thread", ())))


def check(content: Content) -> None:
    """Raise ContentRejected for further segments that X would refuse, while nothing is out yet.

    X charges for a link wherever it stands, and the service counts the first text only; so links stand there.
    """
    texts = segments(content)
    for number, text in enumerate(texts[1:], start=2):
        if not text.strip():
            raise ContentRejected(f"Segment {number} is empty.")
        if weighted(text) > MAX_WEIGHT:
            raise ContentRejected(
                f"Segment {number} counts {weighted(text)} weighted characters; X takes {MAX_WEIGHT}."
            )
        if cashtags(text) > MAX_CASHTAGS:
            raise ContentRejected(f"Segment {number} holds several cashtags; X takes {MAX_CASHTAGS} in a post.")
        if has_linked_url(text):
            raise ContentRejected(f"Segment {number} holds a link; links can stand in the first segment only.")
        if text in texts[: number - 1]:
            raise ContentRejected(f"Segment {number} repeats an earlier one, which X refuses.")


@contextmanager
def telling(out: int) -> Iterator[None]:
    """Faults while the next segment is sent count by how many are out: once one is, none of them lets the whole begin
    anew, and all say which are."""
    try:
        yield
    except TokenExpired:
        raise
    except PlatformError as fault:
        if not out:
            raise
        raise partly_out(fault, out) from fault


def partly_out(fault: PlatformError, out: int) -> PartlyOut:
    """The fault as it counts when this many segments are out."""
    if isinstance(fault, OutcomeUnknown):
        return PartlyOut(f"{_out(out)}; it is not known whether segment {out + 1} is.", final=fault.final)
    message = f"{_out(out)}; segment {out + 1} is not: {fault.message}"
    if isinstance(fault, Transient):
        return PartlyOut(message, retry_after=fault.retry_after)
    return PartlyOut(message, final=True)


def _out(count: int) -> str:
    if count == 1:
        return "Segment 1 is out"
    return f"Segments 1 {'and' if count == 2 else 'to'} {count} are out"
