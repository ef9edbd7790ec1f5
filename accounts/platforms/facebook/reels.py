"""Facebook's limit of reels: a page may publish 30 through the API within 24 hours.

The page's reels are counted before a video is uploaded. The list includes those that were published by hand, so a page that
does both may wait longer than necessary. A list that cannot be read stops no reel: Facebook then refuses the one that is too
many, with an error that it does not document. Source: developers.facebook.com, video-api/guides/reels-publishing.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import PlatformError, RateLimited
from accounts.platforms.facebook.page import ERRORS, Page
from accounts.platforms.meta.errors import daily_limit_pause_seconds
from accounts.platforms.meta.graph import GraphError, entries, time_of

MAX_IN_24_HOURS = 30
WINDOW = timedelta(hours=24)
PAGE_SIZE = "100"
COUNTED_ATTEMPTS = 2  # after so many waits Facebook decides: it does not count reels that were published by hand


def check(page: Page, attempt: int, refusal: str = "") -> None:
    """Raise RateLimited if the Facebook page has published its reels of the last 24 hours, until it may publish another one.

    `refusal` is Facebook's answer to this reel, if it was sent already.
    """
    recent = _recent(page)
    if len(recent) < MAX_IN_24_HOURS:
        return
    free_at = recent[MAX_IN_24_HOURS - 1] + WINDOW
    seconds = max((free_at - timezone.now()).total_seconds(), daily_limit_pause_seconds(attempt))
    message = (
        f"Facebook lets a page publish {MAX_IN_24_HOURS} reels in 24 hours, and the page has published {len(recent)}."
    )
    raise RateLimited(f"{message} {refusal}".rstrip(), retry_after=seconds)


def check_refusal(refused: GraphError, attempt: int) -> None:
    """Raise RateLimited for a Facebook rate limit of unknown duration, which may be the limit of reels."""
    if ERRORS.meaning_of(refused) == "rate_limit" and refused.retry_after is None:
        raise RateLimited(
            ERRORS.platform_error(refused).message, retry_after=daily_limit_pause_seconds(attempt)
        ) from refused


def _recent(page: Page) -> list[datetime]:
    """The creation times of the Facebook page's reels of the last 24 hours, newest first; empty if they cannot be read."""
    params = {"fields": "created_time,published", "limit": PAGE_SIZE}
    reels: list[dict[str, Any]] = []
    with suppress(PlatformError), ERRORS.platform_errors():
        reels = entries(page.graph.get(f"/{page.id}/video_reels", params))
    times = (time_of(reel, "created_time") for reel in reels if reel.get("published") is not False)
    since = timezone.now() - WINDOW
    return sorted((each for each in times if each and each > since), reverse=True)
