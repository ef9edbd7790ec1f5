"""Media assets as pages show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from media.links import file_link, preview_link
from media.models import MediaAsset


@dataclass(frozen=True)
class Picture:
    """An asset in a post, or one that was there: `asset` is None once it is deleted."""

    media_id: str
    asset: MediaAsset | None
    alt_text: str

    @property
    def thumbnail(self) -> str:
        """The address of a picture of it; "" where there is none."""
        return preview_link(self.asset) if self.asset else ""

    @property
    def file(self) -> str:
        """The address of the file; "" once it is deleted."""
        return file_link(self.asset) if self.asset else ""


def pictures(media: Sequence[Mapping[str, Any]], assets: Mapping[str, MediaAsset]) -> list[Picture]:
    """What a post's `media` shows, in its order; without an alt text of its own, each has its asset's."""
    return [_picture(each, assets.get(each["media_id"])) for each in media]


def _picture(attached: Mapping[str, Any], asset: MediaAsset | None) -> Picture:
    own = attached.get("alt_text")
    return Picture(attached["media_id"], asset, (asset.alt_text if asset else "") if own is None else own)
