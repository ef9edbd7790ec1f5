"""Threads that stop on the way. One that has begun is not called failed, since what is out costs money and a retry of
the failed begins anew: it waits as unconfirmed, says which segments are out, and a retry goes on behind them."""

from __future__ import annotations

from posts.models import PostTarget


def published_segments(target: PostTarget) -> int:
    """How many segments of the target's thread are out; 0 as well for what is no thread."""
    return len(target.progress.get("sent", ()))


def with_published_segments(target: PostTarget, message: str, *, doubtful: bool) -> str:
    """The message, with the segments that are out; `doubtful`: the next one may be."""
    out = published_segments(target)
    if not out:
        return message
    said = "Segment 1 is out" if out == 1 else f"Segments 1 {'and' if out == 2 else 'to'} {out} are out"
    following = f"it is not known whether segment {out + 1} is" if doubtful else f"segment {out + 1} is not"
    return f"{said}; {following}: {message}"


def unconfirmed_action(target: PostTarget) -> str:
    """What helps where nobody can tell whether all of it is out."""
    out = published_segments(target)
    if not out:
        return "Look at the account. Resolve the target if the post is there; otherwise retry with include_unconfirmed."
    return (
        "Look at the account. Resolve the target if all of the thread is there; otherwise retry with include_unconfirmed, "
        f"which goes on at segment {out + 1}."
    )
