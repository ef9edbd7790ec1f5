"""Reads title, description and picture of a linked web page for the link cards of post previews, and caches them.

A preview must not use up what other requests need: a workspace reads one page at a time, and not many in a minute. Pages are
kept in Django's cache, for each workspace by itself, so that nobody sees by the time of an answer what others have linked.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache

from accounts.platforms.thumbnails import jpeg_thumbnail_or_none
from accounts.platforms.web_pages import PageUnavailable, fetch_page_metadata, fetch_picture_bytes
from config.api import rate_limit
from config.api.caller import Caller, require_access
from config.api.request_limits import WebThreadLimit, limit_outbound_threads_and_seconds
from config.outbound import total_deadline

READ_SECONDS = 8.0  # the page and its picture together
PAGES_PER_MINUTE = 30
KEPT_SECONDS, UNAVAILABLE_KEPT_SECONDS = 900, 60
PICTURE_SIDE, MAX_PICTURE_BYTES = 600, 40_000

# Half of the threads that may wait for other servers, so that link cards leave the rest to what people wait for.
page_thread_limit = WebThreadLimit(settings.WEB_THREADS // 8, each=1)


@dataclass(frozen=True)
class LinkedPage:
    """The title, the description and a small JPEG picture of a web page to which a post links; missing ones are empty."""

    title: str = ""
    description: str = ""
    picture: bytes = b""


def read_linked_page(*, caller: Caller, workspace_id: str, url: str) -> LinkedPage:
    """Read the page to which a previewed post links, or return it from the cache; it is empty if it cannot be read.

    Raises NotFound, ScopeMissing, and RateLimited if the same call may succeed a little later.
    """
    require_access(caller, workspace_id, "posts.draft", write=False)
    key = f"linked-page:{workspace_id}:{hashlib.sha256(url.encode()).hexdigest()}"
    page: LinkedPage | None = cache.get(key)
    if page is None:
        with (
            page_thread_limit.hold_thread(workspace_id),
            limit_outbound_threads_and_seconds(workspace_id),
            total_deadline(READ_SECONDS),
        ):
            rate_limit.count_or_raise_rate_limited(rate_limit.Bucket(f"linked-pages:{workspace_id}", PAGES_PER_MINUTE))
            page = _fetch(url)
        cache.set(key, page, UNAVAILABLE_KEPT_SECONDS if page == LinkedPage() else KEPT_SECONDS)
    return page


def _fetch(url: str) -> LinkedPage:
    try:
        found = fetch_page_metadata(url)
    except PageUnavailable:
        return LinkedPage()
    picture = None
    if found.picture:
        with suppress(PageUnavailable):
            source = fetch_picture_bytes(found.picture)
            picture = jpeg_thumbnail_or_none(source, max_bytes=MAX_PICTURE_BYTES, longest_side=PICTURE_SIDE)
    return LinkedPage(found.title, found.description, picture or b"")
