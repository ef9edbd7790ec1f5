"""The Instagram account's quota: how many posts it may publish in 24 hours, and how many it has published.

Source: developers.facebook.com, instagram-platform/instagram-graph-api/reference/ig-user/content_publishing_limit.
"""

from __future__ import annotations

from accounts.platforms.errors import PlatformError, RateLimited
from accounts.platforms.http.responses import as_object
from accounts.platforms.instagram.account import ERRORS
from accounts.platforms.meta.daily_limits import pause_seconds
from accounts.platforms.meta.graph import Account, entries


def check(account: Account, attempt: int) -> None:
    """Raise RateLimited if the Instagram account's quota is used up. A quota that cannot be read stops no post."""
    try:
        with ERRORS.platform_errors():
            answer = account.graph.get(f"/{account.id}/content_publishing_limit", {"fields": "config,quota_usage"})
            quota = next(iter(entries(answer)), {})
    except PlatformError:
        return
    used, total = quota.get("quota_usage"), as_object(quota.get("config")).get("quota_total")
    if type(used) is int and type(total) is int and used >= total:
        raise RateLimited(
            f"Instagram lets the account publish {total} posts in 24 hours, and it has published {used}.",
            retry_after=pause_seconds(attempt),
        )
