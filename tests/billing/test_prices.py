from __future__ import annotations

import pytest
from pytest_django import Settings

from billing.prices import post_price_cents


@pytest.mark.parametrize(
    ("platform", "has_url", "cents"),
    [
        ("plain", False, 1),
        ("plain", True, 1),
        ("dear", False, 2),
        ("dear", True, 20),
        ("linked", False, 1),
        ("linked", True, 7),
        ("free", True, 0),
    ],
)
def test_the_most_specific_entry_of_the_price_list_applies(
    settings: Settings, platform: str, has_url: bool, cents: int
) -> None:
    settings.PRICE_LIST = {"default": 1, "dear": 2, "dear+url": 20, "linked+url": 7, "free": 0}

    assert post_price_cents(platform, has_url=has_url) == cents


def test_the_default_price_list_is_the_documented_one() -> None:
    assert [
        post_price_cents("x", has_url=False),
        post_price_cents("x", has_url=True),
        post_price_cents("mastodon", has_url=True),
    ] == [2, 20, 1]
