"""The prices of published posts in US cents, from the setting PRICE_LIST."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

DEFAULT_PRICE = "default"
URL_SUFFIX = "+url"


@dataclass(frozen=True)
class PublishingCharge:
    """The price of publishing a post, or a thread of posts, to one account on a platform.

    `url_posts` is the number of its posts with a URL, which have a monthly cap.
    """

    target_id: str
    platform: str
    cents: int
    url_posts: int


def post_price_cents(platform: str, *, has_url: bool) -> int:
    """Return the price of publishing one post on a platform, from PRICE_LIST in cents; a link in the text may cost more."""
    prices: dict[str, int] = settings.PRICE_LIST
    if has_url and platform + URL_SUFFIX in prices:
        return prices[platform + URL_SUFFIX]
    return prices.get(platform, prices[DEFAULT_PRICE])
