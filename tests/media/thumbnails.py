"""Helpers for the tests of thumbnails."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from media.worker_loop import ThumbnailLoop
from tests.conftest import ApiClient
from tests.media.files.fetching import fetch


def make_thumbnails() -> None:
    """Run the thumbnail loop until nothing is due."""
    duty = ThumbnailLoop()
    while duty.run_once():
        pass


def in_library(api: ApiClient, media: dict[str, Any]) -> dict[str, Any]:
    """The asset's current body in the list."""
    media_list = api.get(f"/media?workspace_id={media['workspace_id']}").json()["media"]
    [found] = [each for each in media_list if each["id"] == media["id"]]
    return dict(found)


def thumbnail_of(api: ApiClient, content: bytes) -> Any:
    """Upload the picture and make its thumbnail; returns the response of `thumbnail_url`, with the decoded `picture`."""
    media = api.upload(content).json()["media"]
    make_thumbnails()
    answer = fetch(in_library(api, media)["thumbnail_url"])
    answer.picture = Image.open(io.BytesIO(answer.body))
    return answer
