"""The worker loop that creates media thumbnails, one at a time."""

from __future__ import annotations

from config.jobs.worker_loop import WorkerLoop
from media.services.thumbnails import LOOP_NAME, claim_asset_for_thumbnail, make_thumbnail_or_schedule_retry


class ThumbnailLoop(WorkerLoop):
    """The worker loop that creates media thumbnails one at a time, because image decoders need hundreds of megabytes."""

    name = LOOP_NAME

    def run_once(self) -> bool:
        asset = claim_asset_for_thumbnail()
        if asset is None:
            return False
        make_thumbnail_or_schedule_retry(asset)
        return True
