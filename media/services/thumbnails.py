"""Services with which a worker claims media assets that need a thumbnail, and creates the thumbnails.

Attempts are counted before they begin, so that an asset that crashes its workers is given up like an unreadable one.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import tempfile
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.jobs.claims import claim_due, claimed_row_queryset
from media import selectors, storage
from media.models import MediaAsset
from media.services.pending import delete_adopted_pending_row, remove_pending_file_if_unused, store_and_count_pending_file
from media.thumbnail_rendering import Thumbnail, render_image_thumbnail_or_none, render_video_thumbnail_or_none

logger = logging.getLogger(__name__)
LOOP_NAME = "thumbnail"
LEASE = timedelta(minutes=5)  # enough to download the longest video from a bucket
RETRY_PAUSES = (timedelta(minutes=1), timedelta(hours=1))  # after the first and the second failed attempt
MAX_ATTEMPTS = len(RETRY_PAUSES) + 1


def claim_asset_for_thumbnail() -> MediaAsset | None:
    """Claim the media asset that has waited longest for its thumbnail, so that no other worker takes it; None if none waits.

    Assets without attempts left get no thumbnail. A worker claims only one asset at a time, so that a dead worker identifies
    the asset that it was processing.
    """
    while claimed := claim_due(selectors.undeleted_assets_of_all_workspaces(), limit=1, lease=LEASE):
        [asset] = claimed
        row = claimed_row_queryset(selectors.undeleted_assets_of_all_workspaces(), asset)
        if asset.thumbnail_attempts < MAX_ATTEMPTS:
            asset.thumbnail_attempts += 1
            row.update(thumbnail_attempts=asset.thumbnail_attempts)
            return asset
        row.update(due_at=None, lease_until=None)
        logger.error("The thumbnail of %s is given up: it ended %d workers.", asset.pk, MAX_ATTEMPTS)
    return None


def make_thumbnail_or_schedule_retry(asset: MediaAsset) -> None:
    """Create and store the thumbnail of a media asset that this worker has claimed, or schedule a retry if that fails.

    Nothing is kept if the asset was deleted or the claim has expired. The last attempt that fails is given up. Failures are
    logged.
    """
    try:
        thumbnail = _render(asset)
        key = _store(asset, thumbnail) if thumbnail else ""
    except Exception as error:  # any error of decoders, ffmpeg or the storage client
        _schedule_retry(asset, error)
        return
    changes = {"thumbnail_key": key, "due_at": None, "lease_until": None, "updated_at": timezone.now()}
    with transaction.atomic():
        written = claimed_row_queryset(selectors.undeleted_assets_of_all_workspaces(), asset).update(**changes)
        if written and key:
            delete_adopted_pending_row(key)
    if key and not written:
        remove_pending_file_if_unused(key)


def _render(asset: MediaAsset) -> Thumbnail | None:
    opened = functools.partial(storage.open_file, asset.storage_key)
    if asset.kind == MediaAsset.Kind.VIDEO:
        seconds = (asset.duration_ms or 0) / 1000
        return render_video_thumbnail_or_none(
            opened, mime_type=asset.mime_type, sides=(asset.width or 1, asset.height or 1), seconds=seconds
        )
    with opened() as file:
        return render_image_thumbnail_or_none(file.read(), asset.mime_type)


def _store(asset: MediaAsset, thumbnail: Thumbnail) -> str:
    """Store a media asset's rendered thumbnail as a pending file, which no asset uses yet; returns its storage key."""
    sha256 = hashlib.sha256(thumbnail.content).hexdigest()
    key = storage.new_storage_key(workspace_id=asset.workspace_id, sha256=sha256, suffix=thumbnail.suffix)
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as file:
        file.write(thumbnail.content)
        file.flush()
        store_and_count_pending_file(Path(file.name), key, workspace_id=asset.workspace_id)
    return key


def _schedule_retry(asset: MediaAsset, error: Exception) -> None:
    attempt = asset.thumbnail_attempts
    due_at = timezone.now() + RETRY_PAUSES[attempt - 1] if attempt < MAX_ATTEMPTS else None
    claimed_row_queryset(selectors.undeleted_assets_of_all_workspaces(), asset).update(due_at=due_at, lease_until=None)
    level, next_step = (logging.WARNING, "it is tried again") if due_at else (logging.ERROR, "it is given up")
    logger.log(level, "Attempt %d at the thumbnail of %s failed, %s: %r", attempt, asset.pk, next_step, error)
