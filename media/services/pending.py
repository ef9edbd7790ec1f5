"""Files between the moment when they may be in the storage and the moment when an asset names them."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from config.api.errors import ServiceUnavailable
from media import storage
from media.backend_limits import storage_access
from media.models import MediaAsset, PendingFile
from media.services.quota import release_quota, use_quota

logger = logging.getLogger(__name__)
MIN_PENDING_AGE = timedelta(hours=1)  # longer than a write goes on whose outcome nobody has heard


def store_pending_file(path: Path, key: str, *, workspace_id: str, counted_bytes: int = 0) -> None:
    """Store a copy of the file at `path` as a pending one; `counted_bytes` are what it takes of the workspace's quota.

    Raises MediaQuotaExceeded, and ServiceUnavailable (the purge then sees to what may be in the storage).
    """
    with transaction.atomic():
        if counted_bytes:
            use_quota(workspace_id, counted_bytes)
        PendingFile.objects.create(storage_key=key, workspace_id=workspace_id, size_bytes=counted_bytes)
    try:
        storage.store_file(path, key)
    except BaseException:  # the storage may have it all the same, or get it a moment later
        abandon_pending_file(key)
        raise


def adopt_pending_file(key: str) -> None:
    """In the transaction that makes an asset name the file: it is pending no longer.

    Raises ServiceUnavailable when the purge has given it up meanwhile.
    """
    if not PendingFile.objects.filter(storage_key=key, abandoned=False).delete()[0]:
        raise ServiceUnavailable("The file was stored too late.")


@transaction.atomic
def abandon_pending_file(key: str) -> bool:
    """See to it that no asset can take the file over, and that it counts no more; false when it is pending no longer."""
    row = PendingFile.objects.select_for_update().filter(storage_key=key).first()
    if row is None:
        return False
    if not row.abandoned:
        row.abandoned = True
        row.save(update_fields=["abandoned"])
        release_quota(row.workspace_id, row.size_bytes)
    return True


def discard_pending_file(key: str) -> bool:
    """Remove a pending file from the storage, unless an asset has taken it over; returns whether it is gone.

    What the storage or the database refuses is logged, and tried again by the purge.
    """
    try:
        if not abandon_pending_file(key) and _has_asset(
            key
        ):  # without its row, it is an asset's or the purge has given it up
            return False
        with storage_access():
            storage.remove_file(key)
        PendingFile.objects.filter(storage_key=key).delete()
    except Exception as error:  # whatever the database and the storage's client raise
        logger.warning("The pending file %s cannot be removed yet: %s", key, error)
        return False
    return True


def purge_pending_files(*, limit: int = 200) -> int:
    """Remove what uploads that failed may have left in the storage, up to `limit` files; returns how many."""
    old = PendingFile.objects.filter(created_at__lte=timezone.now() - MIN_PENDING_AGE).order_by("created_at")
    return sum(discard_pending_file(key) for key in list(old.values_list("storage_key", flat=True)[:limit]))


def _has_asset(key: str) -> bool:
    return MediaAsset.objects.filter(Q(storage_key=key) | Q(thumbnail_key=key)).exists()
