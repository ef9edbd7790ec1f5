"""The worker's duty to make thumbnails, one after another, in its own thread."""

from __future__ import annotations

from config.db.duty import PollingDuty
from media.services.thumbnails import DUTY, claim_thumbnail, make_thumbnail


class ThumbnailDuty(PollingDuty):
    """`run_once` makes the thumbnail that has been due longest. Decoders hold hundreds of megabytes, so never two at once."""

    name = DUTY

    def run_once(self) -> bool:
        asset = claim_thumbnail()
        if asset is None:
            return False
        make_thumbnail(asset)
        return True
