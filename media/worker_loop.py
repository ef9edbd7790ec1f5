"""The worker loop that makes thumbnails, one after another."""

from __future__ import annotations

from config.jobs.worker_loop import WorkerLoop
from media.services.thumbnails import LOOP, claim_thumbnail, make_thumbnail


class ThumbnailLoop(WorkerLoop):
    """`run_once` makes the thumbnail that has been due longest. Decoders hold hundreds of megabytes, so never two at once."""

    name = LOOP

    def run_once(self) -> bool:
        asset = claim_thumbnail()
        if asset is None:
            return False
        make_thumbnail(asset)
        return True
