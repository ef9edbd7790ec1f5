"""Prices of published targets in US cents, from the setting PRICE_LIST."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

DEFAULT_PRICE = "default"
URL_SUFFIX = "+url"


@dataclass(frozen=True)
class Charge:
    """The cost of publishing one target. `url_posts` is how many of its posts contain a URL, for the monthly cap on them."""

    target_id: str
    platform: str
    cents: int
    url_posts: int


def price_of(platform: str, *, has_url: bool) -> int:
    """Return the price of one published post in cents; `has_url` says that its text has a URL that the platform links."""
    prices: dict[str, int] = settings.PRICE_LIST
    if has_url and platform + URL_SUFFIX in prices:
        return prices[platform + URL_SUFFIX]
    return prices.get(platform, prices[DEFAULT_PRICE])
