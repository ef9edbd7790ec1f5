"""The limit of reels: a page may publish 30 by the API within 24 hours.

The page's reels are counted before a video is uploaded. The list holds those that were published by hand as well, so that
a page that does both may wait longer than it had to. That it cannot be read keeps no reel from going out: Facebook then
refuses the one that is too many. Facebook does not document with which error. Source: developers.facebook.com,
video-api/guides/reels-publishing.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from accounts.platforms.errors import PlatformError, RateLimited
from accounts.platforms.facebook.page import PRODUCT, Page
from accounts.platforms.meta.daily_limits import pause_seconds
from accounts.platforms.meta.graph import GraphError, entries
from accounts.platforms.meta.matching import moment_of

A_DAY = 30
WINDOW = timedelta(hours=24)
AT_ONCE = "100"
COUNTED_ATTEMPTS = 2  # after so many waits Facebook decides: it does not count reels that were published by hand


def check(page: Page, attempt: int, refusal: str = "") -> None:
    """Raise RateLimited when the page has published its reels of a day; it waits until the next place comes free.

    `refusal` is what Facebook has said of this reel, where it was asked already.
    """
    recent = _recent(page)
    if len(recent) < A_DAY:
        return
    free_at = recent[A_DAY - 1] + WINDOW
    seconds = max((free_at - timezone.now()).total_seconds(), pause_seconds(attempt))
    message = f"Facebook lets a page publish {A_DAY} reels in 24 hours, and the page has published {len(recent)}."
    if refusal:
        message = f"{message} {refusal}"
    raise RateLimited(message, retry_after=seconds)


def check_refusal(refused: GraphError, attempt: int) -> None:
    """Raise RateLimited for a limit of which Facebook does not say how long it lasts: it may be that of reels."""
    if PRODUCT.kind_of(refused) == "quota" and refused.retry_after is None:
        raise RateLimited(PRODUCT.fault(refused).message, retry_after=pause_seconds(attempt)) from refused


def _recent(page: Page) -> list[datetime]:
    """When the page's reels of the last 24 hours were made, the newest first; empty where Facebook does not tell."""
    try:
        with PRODUCT.faults():
            told = page.graph.get(f"/{page.id}/video_reels", {"fields": "created_time,published", "limit": AT_ONCE})
            reels = entries(told)
    except PlatformError:
        return []
    moments = (moment_of(reel, "created_time") for reel in reels if reel.get("published") is not False)
    since = timezone.now() - WINDOW
    return sorted((moment for moment in moments if moment and moment > since), reverse=True)
