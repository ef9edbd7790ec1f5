from __future__ import annotations

from accounts.platforms.facebook.capabilities import CAPABILITIES, OPTIONS


def test_mentions_are_not_claimed_since_facebook_removes_them() -> None:
    assert "mentions" not in CAPABILITIES.features
    assert "hashtags" in CAPABILITIES.features


def test_the_daily_limit_of_reels_is_documented() -> None:
    assert "30 of them in 24 hours" in OPTIONS["properties"]["post_type"]["description"]
