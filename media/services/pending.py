"""Services for pending media files, which are stored, or being stored, but belong to no asset yet."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from config.api.errors import ServiceUnavailable
from media import selectors, storage
from media.backend_limits import limit_bucket_call
from media.models import PendingFile
from media.services.quota import add_to_used_quota, subtract_from_used_quota

logger = logging.getLogger(__name__)
MIN_PENDING_AGE = timedelta(hours=1)  # longer than an unacknowledged write can take


def store_and_count_pending_file(path: Path, key: str, *, workspace_id: str, counted_bytes: int = 0) -> None:
    """Store a copy of the file at `path` as a pending media file, and add `counted_bytes` to the used quota.

    Raises MediaQuotaExceeded, and ServiceUnavailable (the purge then removes what may have been stored).
    """
    with transaction.atomic():
        if counted_bytes:
            add_to_used_quota(workspace_id, counted_bytes)
        PendingFile.objects.create(storage_key=key, workspace_id=workspace_id, size_bytes=counted_bytes)
    try:
        storage.store_file(path, key)
    except BaseException:  # the file may have been stored nevertheless
        mark_abandoned_and_release_quota(key)
        raise


def delete_adopted_pending_row(key: str) -> None:
    """Adopt a pending media file: delete its row, in the transaction that saves the media asset to which it now belongs.

    Raises ServiceUnavailable if the purge has abandoned it.
    """
    if not PendingFile.objects.filter(storage_key=key, abandoned=False).delete()[0]:
        raise ServiceUnavailable(gettext_noop("The file was stored too late. Send it again."))


@transaction.atomic
def mark_abandoned_and_release_quota(key: str) -> bool:
    """Abandon a pending media file, so that no media asset can take it over, and release its quota.

    The file stays in the storage. Returns False if its row is gone.
    """
    row = PendingFile.objects.select_for_update().filter(storage_key=key).first()
    if row is None:
        return False
    if not row.abandoned:
        row.abandoned = True
        row.save(update_fields=["abandoned"])
        subtract_from_used_quota(row.workspace_id, row.size_bytes)
    return True


def remove_pending_file_if_unused(key: str) -> bool:
    """Remove a pending media file from the storage unless a media asset uses it by now; returns whether it was removed.

    Errors of the storage and the database are logged, and the purge tries again.
    """
    try:
        # Without a row, an asset has adopted the file or the purge removed it.
        if not mark_abandoned_and_release_quota(key) and selectors.is_storage_key_of_any_asset(key):
            return False
        with limit_bucket_call():
            storage.remove_file(key)
        PendingFile.objects.filter(storage_key=key).delete()
    except Exception as error:  # any error of the database or the storage client
        logger.warning("The pending file %s cannot be removed yet: %s", key, error)
        return False
    return True


def purge_pending_files(*, limit: int = 200) -> int:
    """Remove up to `limit` pending media files left by failed uploads; returns the number of removed files."""
    old = PendingFile.objects.filter(created_at__lte=timezone.now() - MIN_PENDING_AGE).order_by("created_at")
    return sum(remove_pending_file_if_unused(key) for key in list(old.values_list("storage_key", flat=True)[:limit]))
