"""Crops of attached images that the composer offers where a platform refuses their shape, with a preview of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.platforms.issues import Issue
from media.cropping import MAX_RATIO, MIN_RATIO, format_ratio
from media.models import MediaAsset
from posts.dashboard.shown_groups import ShownAsset

PREVIEW_SIDE = 144  # pixels of the longer side
_PLACE = re.compile(r"media\[(\d+)\]")


@dataclass(frozen=True)
class CropOffer:
    """An offer of the composer to crop an attached image to a ratio of width to height."""

    picture: ShownAsset
    ratio: float

    @property
    def button_value(self) -> str:
        """Return the value by which buttons of the composer submit this CropOffer."""
        return f"{self.picture.media_id}:{self.ratio:.4g}"

    @property
    def label(self) -> str:
        return format_ratio(self.ratio)

    @property
    def preview_size(self) -> tuple[int, int]:
        """Return the width and height of the preview of this CropOffer."""
        return round(PREVIEW_SIDE * min(1.0, self.ratio)) or 1, round(PREVIEW_SIDE / max(1.0, self.ratio)) or 1

    @property
    def position_choices(self) -> list[tuple[str, str, str]]:
        """Return the choices for a crop's position: for each its value, its label such as Left, and the SVG alignment."""
        asset = self.picture.asset
        too_wide = asset is not None and (asset.width or 1) > (asset.height or 1) * self.ratio
        if too_wide:
            return [("start", _("Left"), "xMinYMid"), ("middle", _("Middle"), "xMidYMid"), ("end", _("Right"), "xMaxYMid")]
        return [("start", _("Top"), "xMidYMin"), ("middle", _("Middle"), "xMidYMid"), ("end", _("Bottom"), "xMidYMax")]


def find_crop_that_repairs_issue(issue: Issue, pictures: Sequence[ShownAsset]) -> CropOffer | None:
    """Return the crop that repairs a validation issue; None if cropping does not help. `pictures` are the post's media."""
    place = _PLACE.search(issue.field)
    if not place or "ratio" not in issue.facts or int(place[1]) >= len(pictures):
        return None
    return _offer(pictures[int(place[1])], issue.facts["ratio"])


def find_crop_of_button(name: str, pictures: Sequence[ShownAsset]) -> CropOffer | None:
    """Return the crop that a button of the composer names; None if the image is not attached any more."""
    media_id, _colon, ratio = name.partition(":")
    picture = next((each for each in pictures if each.media_id == media_id), None)
    if picture is None or not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", ratio):
        return None
    return _offer(picture, float(ratio))


def _offer(picture: ShownAsset, ratio: float) -> CropOffer | None:
    is_image = picture.asset is not None and picture.asset.kind == MediaAsset.Kind.IMAGE
    return CropOffer(picture, ratio) if is_image and MIN_RATIO <= ratio <= MAX_RATIO else None
