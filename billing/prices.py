"""What a published target costs, in US cents, by the operator's price list (`PRICE_LIST`)."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

DEFAULT = "default"
WITH_URL = "+url"


@dataclass(frozen=True)
class Charge:
    """What one target would cost. `url_posts`: how many of its posts count for the monthly social URL post cap."""

    target_id: str
    platform: str
    cents: int
    url_posts: int


def price_of(platform: str, *, has_url: bool) -> int:
    """Cents for one published post; `has_url` says that its text holds a URL that the platform links."""
    prices: dict[str, int] = settings.PRICE_LIST
    if has_url and platform + WITH_URL in prices:
        return prices[platform + WITH_URL]
    return prices.get(platform, prices[DEFAULT])
