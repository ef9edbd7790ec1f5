"""Media assets attached to posts, as dashboard pages show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from media.links import file_link, preview_link
from media.models import MediaAsset


@dataclass(frozen=True)
class Picture:
    """A media asset attached to a post; `asset` is None if it was deleted."""

    media_id: str
    asset: MediaAsset | None
    alt_text: str

    @property
    def thumbnail(self) -> str:
        """Return the URL of the asset's preview picture, or ""."""
        return preview_link(self.asset) if self.asset else ""

    @property
    def file(self) -> str:
        """Return the URL of the asset's file, or "" if the asset was deleted."""
        return file_link(self.asset) if self.asset else ""


def pictures(media: Sequence[Mapping[str, Any]], assets: Mapping[str, MediaAsset]) -> list[Picture]:
    """Return a Picture for each entry of a post's `media`, in order. The asset's alt text is used if the post has none."""
    return [_picture(each, assets.get(each["media_id"])) for each in media]


def _picture(attached: Mapping[str, Any], asset: MediaAsset | None) -> Picture:
    own = attached.get("alt_text")
    return Picture(attached["media_id"], asset, (asset.alt_text if asset else "") if own is None else own)
