"""The limit of Facebook reels that a page may publish in a day, checked before and after a reel is sent.

A page may publish 30 reels through the API within 24 hours. The page's reels are counted before a video is uploaded. The list
includes those that were published by hand, so a page that does both may wait longer than necessary. A list that cannot be
read stops no reel: Facebook then refuses the one that is too many, with an error that it does not document. Source:
developers.facebook.com, video-api/guides/reels-publishing.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import PlatformError, RateLimited
from accounts.platforms.facebook.errors import ERRORS
from accounts.platforms.facebook.page import FacebookPageClient
from accounts.platforms.meta.errors import GraphError, daily_limit_backoff_seconds
from accounts.platforms.meta.graph import listed_objects, time_field_or_none

MAX_REELS = 30  # in REELS_WINDOW
REELS_WINDOW = timedelta(hours=24)
MAX_ATTEMPTS_WITH_REEL_CHECK = 2  # after so many waits Facebook decides: it does not count reels that were published by hand


def check_reel_limit(page: FacebookPageClient, attempt: int, refusal: str = "") -> None:
    """Raise RateLimited if the Facebook page has reached the limit for posts of the kind reel in 24 hours.

    `refusal` is Facebook's answer to this reel, if it was sent already.
    """
    recent = _recent_reels(page)
    if len(recent) < MAX_REELS:
        return
    free_at = recent[MAX_REELS - 1] + REELS_WINDOW
    seconds = max((free_at - timezone.now()).total_seconds(), daily_limit_backoff_seconds(attempt))
    message = f"Facebook lets a page publish {MAX_REELS} reels in 24 hours, and the page has published {len(recent)}."
    raise RateLimited(f"{message} {refusal}".rstrip(), retry_after=seconds)


def raise_if_refused_for_rate_limit(refused: GraphError, attempt: int) -> None:
    """Raise RateLimited if Facebook refuses a reel for a rate limit, probably the daily one, and names no waiting time."""
    if ERRORS.meaning_of_error_or_none(refused) == "rate_limit" and refused.retry_after is None:
        raise RateLimited(
            ERRORS.translate_repeatable_call_error(refused).message, retry_after=daily_limit_backoff_seconds(attempt)
        ) from refused


def _recent_reels(page: FacebookPageClient) -> list[datetime]:
    """Return when the page's Facebook posts of the kind reel were created in the last 24 hours; empty if unreadable."""
    params = {"fields": "created_time,published", "limit": "100"}
    reels: list[dict[str, Any]] = []
    with suppress(PlatformError), ERRORS.translating_repeatable_call_errors():
        reels = listed_objects(page.graph.get(f"/{page.id}/video_reels", params))
    times = (time_field_or_none(reel, "created_time") for reel in reels if reel.get("published") is not False)
    since = timezone.now() - REELS_WINDOW
    return sorted((each for each in times if each and each > since), reverse=True)
