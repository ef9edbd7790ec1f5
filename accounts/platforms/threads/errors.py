"""The error codes of Threads and their meaning, in addition to the error codes that all Meta products share.

Source: developers.facebook.com/docs/threads (troubleshooting); subcodes are those that clients report.
"""

from __future__ import annotations

from accounts.platforms.meta.errors import MetaErrorTranslator

UNKNOWN_CONTAINER = 4279009  # also for a while after the container was created


class ThreadsErrorTranslator(MetaErrorTranslator):
    """The translation of errors of the Threads API into platform errors."""

    name = "threads"
    label = "Threads"
    meanings = {
        24: "transient",
        UNKNOWN_CONTAINER: "transient",
        2207042: "rate_limit",  # the posts of the day
        2207051: "content",  # withheld as spam
        2207052: "content",  # the media cannot be fetched
        4279013: "content",  # the profile is restricted
    }


ERRORS = ThreadsErrorTranslator()
