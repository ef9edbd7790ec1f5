"""The dataclass ThreadRules, which holds a platform's limits for threads (chains of posts).

The option `thread` itself and its validation are in accounts/platforms/thread_option.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ThreadRules:
    """A platform's rules for threads, which are chains of posts (segments), each a reply to the post before.

    `max_segments` counts the post itself; a segment's length limit is that of a post of text alone. `distinct`: the platform
    refuses repeated segments. `each_billed`: the platform bills every segment as a post. `unproven`: a sentence for people
    that says why a thread may fail, if nobody has published one yet; otherwise empty.
    """

    max_segments: int
    distinct: bool = False
    each_billed: bool = False
    unproven: str = ""
