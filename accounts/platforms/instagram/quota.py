"""The account's quota: how many posts it may publish in 24 hours, and how many it has. Source: developers.facebook.com,
instagram-platform/instagram-graph-api/reference/ig-user/content_publishing_limit."""

from __future__ import annotations

from accounts.platforms.errors import PlatformError, RateLimited
from accounts.platforms.instagram.account import PRODUCT, Account
from accounts.platforms.meta.daily_limits import pause_seconds
from accounts.platforms.meta.graph import entries


def check(account: Account, attempt: int) -> None:
    """Raise RateLimited when the quota is used up. That it cannot be read keeps no post from going out."""
    try:
        with PRODUCT.faults():
            answer = account.graph.get(f"/{account.id}/content_publishing_limit", {"fields": "config,quota_usage"})
            told = next(iter(entries(answer)), {})
    except PlatformError:
        return
    config = told.get("config")
    used, total = told.get("quota_usage"), config.get("quota_total") if isinstance(config, dict) else None
    if type(used) is int and type(total) is int and used >= total:
        raise RateLimited(
            f"Instagram lets the account publish {total} posts in 24 hours, and it has published {used}.",
            retry_after=pause_seconds(attempt),
        )
