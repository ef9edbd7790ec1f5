"""Threads of which only some segments were published.

Such a target becomes unconfirmed, not failed, since a retry of a failed target would start the thread again. Its error
says which segments are published, and a retry continues after them.
"""

from __future__ import annotations

from posts.models import PostTarget


def published_segments(target: PostTarget) -> int:
    """Return the number of published segments of the target's thread; 0 without a thread."""
    return len(target.progress.get("sent", ()))


def with_published_segments(target: PostTarget, message: str, *, doubtful: bool) -> str:
    """Prefix the message with the published segments; `doubtful`: the next segment may be published, too."""
    count = published_segments(target)
    if not count:
        return message
    published = "Segment 1 was" if count == 1 else f"Segments 1 {'and' if count == 2 else 'to'} {count} were"
    following = f"it is not known whether segment {count + 1} was" if doubtful else f"segment {count + 1} was not"
    return f"{published} published; {following}: {message}"


def unconfirmed_action(target: PostTarget) -> str:
    """Return the suggested action for an unconfirmed target: check the account, then resolve or retry."""
    count = published_segments(target)
    if not count:
        return "Check the account. Resolve the target if the post is there; otherwise retry with include_unconfirmed."
    return (
        "Check the account. Resolve the target if the whole thread is there; otherwise retry with include_unconfirmed, "
        f"which continues at segment {count + 1}."
    )
