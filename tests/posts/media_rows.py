"""Helpers for the tests of media in posts."""

from __future__ import annotations

from media.models import MediaAsset
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient


def media_of(*assets: MediaAsset, **fields: str) -> list[dict[str, str]]:
    return [{"media_id": asset.id, **fields} for asset in assets]


def deletable(api: ApiClient, *assets: MediaAsset) -> list[bool]:
    """For each asset, whether it can be deleted; others are refused as in use."""
    answers = [api.delete(f"/media/{asset.id}?dry_run=true") for asset in assets]
    for answer in answers:
        if answer.status_code != 200:
            assert_envelope(answer, 409, "MEDIA_IN_USE")
    return [answer.status_code == 200 for answer in answers]
