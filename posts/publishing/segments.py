"""Messages about threads of which only some posts (segments) were published.

Such a target becomes unconfirmed, not failed, since a retry of a failed target would start the thread again. Its error
says which segments are published, and a retry continues after them.
"""

from __future__ import annotations


def add_segment_count_to_message(count: int, message: str, *, in_doubt: bool) -> str:
    """Return an error message that begins with how many posts of a thread were published.

    `in_doubt`: the next post may be published, too.
    """
    if not count:
        return message
    published = "Segment 1 was" if count == 1 else f"Segments 1 {'and' if count == 2 else 'to'} {count} were"
    following = f"it is not known whether segment {count + 1} was" if in_doubt else f"segment {count + 1} was not"
    return f"{published} published; {following}: {message}"


def unconfirmed_post_advice(count: int) -> str:
    """Return the advice to a person about an unconfirmed post or thread: check the account, then resolve or retry."""
    if not count:
        return "Check the account. Resolve the target if the post is there; otherwise retry with include_unconfirmed."
    return (
        "Check the account. Resolve the target if the whole thread is there; otherwise retry with include_unconfirmed, "
        f"which continues at segment {count + 1}."
    )
