"""What the tests of thumbnails share: the worker's rounds, and what a caller then sees."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from media.worker_loop import ThumbnailLoop
from tests.conftest import ApiClient
from tests.media.files.fetching import fetch


def make_thumbnails() -> None:
    """Let a worker go its rounds until nothing is due."""
    duty = ThumbnailLoop()
    while duty.run_once():
        pass


def in_library(api: ApiClient, media: dict[str, Any]) -> dict[str, Any]:
    """The asset as the library shows it now."""
    listed = api.get(f"/media?workspace_id={media['workspace_id']}").json()["media"]
    [found] = [each for each in listed if each["id"] == media["id"]]
    return dict(found)


def thumbnail_of(api: ApiClient, content: bytes) -> Any:
    """Upload it and let the worker see to it; the answer at its `thumbnail_url`, with the `picture` that it holds."""
    media = api.upload(content).json()["media"]
    make_thumbnails()
    answer = fetch(in_library(api, media)["thumbnail_url"])
    answer.picture = Image.open(io.BytesIO(answer.body))
    return answer
