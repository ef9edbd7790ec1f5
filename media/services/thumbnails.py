"""Making the thumbnails of assets: rows that are due, claimed for one attempt at a time.

An attempt is counted before it begins, so that an asset which ends its workers is given up like one that cannot be read.
"""

from __future__ import annotations

import functools
import logging
import tempfile
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.jobs.due import claim_due, held
from media import selectors, storage
from media.models import MediaAsset
from media.services.pending import adopt_pending_file, discard_pending_file, store_pending_file
from media.thumbnail_rendering import Thumbnail, render_image_thumbnail, render_video_thumbnail

logger = logging.getLogger(__name__)
LOOP = "thumbnail"
LEASE = timedelta(minutes=5)  # the longest video comes out of a bucket meanwhile
RETRY_PAUSES = (timedelta(minutes=1), timedelta(hours=1))  # after the first attempt that failed, and after the second
MAX_ATTEMPTS = len(RETRY_PAUSES) + 1


def claim_thumbnail() -> MediaAsset | None:
    """Claim the asset whose thumbnail has been due longest, for its next attempt; what has used up all of them is given up.

    One at a time: when a worker dies, it is plain which asset it had in hand.
    """
    while claimed := claim_due(selectors.ready_assets(), limit=1, lease=LEASE):
        [asset] = claimed
        row = held(selectors.ready_assets(), asset)
        if asset.thumbnail_attempts < MAX_ATTEMPTS:
            asset.thumbnail_attempts += 1
            row.update(thumbnail_attempts=asset.thumbnail_attempts)
            return asset
        row.update(due_at=None, lease_until=None)
        logger.error("The thumbnail of %s is given up: %d workers have not come back from it.", asset.pk, MAX_ATTEMPTS)
    return None


def make_thumbnail(asset: MediaAsset) -> None:
    """Make the thumbnail of a claimed asset and keep it, if the asset is still there and this worker's.

    An attempt that fails is logged and tried again after a pause, the last one given up.
    """
    try:
        thumbnail = _picture(asset)
        key = _keep(asset, thumbnail) if thumbnail else ""
    except Exception as error:  # whatever decoders, ffmpeg and the storage's client raise
        _put_off(asset, error)
        return
    settled = {"thumbnail_key": key, "due_at": None, "lease_until": None, "updated_at": timezone.now()}
    with transaction.atomic():
        kept = held(selectors.ready_assets(), asset).update(**settled)
        if kept and key:
            adopt_pending_file(key)
    if key and not kept:
        discard_pending_file(key)


def _picture(asset: MediaAsset) -> Thumbnail | None:
    opened = functools.partial(storage.open_file, asset.storage_key)
    if asset.kind == MediaAsset.Kind.VIDEO:
        seconds = (asset.duration_ms or 0) / 1000
        return render_video_thumbnail(
            opened, mime_type=asset.mime_type, sides=(asset.width or 1, asset.height or 1), seconds=seconds
        )
    with opened() as file:
        return render_image_thumbnail(file.read(), asset.mime_type)


def _keep(asset: MediaAsset, thumbnail: Thumbnail) -> str:
    """Store it as a pending file; returns its key."""
    key = storage.new_key(workspace_id=asset.workspace_id, sha256=thumbnail.sha256, suffix=thumbnail.suffix)
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        file.write(thumbnail.content)
        file.flush()
        store_pending_file(Path(file.name), key, workspace_id=asset.workspace_id)
    return key


def _put_off(asset: MediaAsset, error: Exception) -> None:
    attempt = asset.thumbnail_attempts
    due_at = timezone.now() + RETRY_PAUSES[attempt - 1] if attempt < MAX_ATTEMPTS else None
    held(selectors.ready_assets(), asset).update(due_at=due_at, lease_until=None)
    level, next_step = (logging.WARNING, "it is tried again") if due_at else (logging.ERROR, "it is given up")
    logger.log(level, "Attempt %d at the thumbnail of %s failed, %s: %r", attempt, asset.pk, next_step, error)
