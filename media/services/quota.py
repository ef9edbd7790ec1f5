"""Services that count the stored bytes of a workspace against its media quota, exactly even under concurrent uploads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import BigIntegerField, F, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from media import selectors
from media.errors import MediaQuotaExceeded
from media.models import MediaAsset, MediaUsage, PendingFile


def add_to_used_quota(workspace_id: str, size: int) -> None:
    """Add a file's bytes to a workspace's used media quota, in the caller's transaction. Raises MediaQuotaExceeded."""
    MediaUsage.objects.get_or_create(workspace_id=workspace_id)
    rows = MediaUsage.objects.filter(workspace_id=workspace_id)
    if settings.MEDIA_QUOTA_BYTES:  # compared and raised in one statement, so that concurrent uploads cannot exceed it
        rows = rows.filter(used_bytes__lte=settings.MEDIA_QUOTA_BYTES - size)
    if not rows.update(used_bytes=F("used_bytes") + size):
        raise _exceeded(workspace_id, size)


def subtract_from_used_quota(workspace_id: str, size: int) -> None:
    """Subtract a file's bytes from a workspace's used media quota, in the caller's transaction."""
    MediaUsage.objects.filter(workspace_id=workspace_id).update(used_bytes=F("used_bytes") - size)


def check_file_fits_quota(workspace_id: str, size: int) -> None:
    """Check, without counting it, that a file fits into the workspace's media quota. Raises MediaQuotaExceeded."""
    if settings.MEDIA_QUOTA_BYTES and selectors.used_quota_bytes(workspace_id) + size > settings.MEDIA_QUOTA_BYTES:
        raise _exceeded(workspace_id, size)


def correct_and_yield_wrong_counters() -> Iterator[tuple[str, int, int]]:
    """Correct the workspaces' wrong counters of used media quota; yields each as (workspace id, old value, new value)."""
    having = MediaAsset.objects.order_by().values_list("workspace_id").union(MediaUsage.objects.values_list("pk"))
    for (workspace_id,) in list(having):
        before, after = _recount(workspace_id)
        if before != after:
            yield workspace_id, before, after


@transaction.atomic
def _recount(workspace_id: str) -> tuple[int, int]:
    MediaUsage.objects.get_or_create(workspace_id=workspace_id)
    row = MediaUsage.objects.filter(workspace_id=workspace_id)
    before = row.select_for_update().get().used_bytes
    # Both sums in one statement, since a pending file may become an asset in between.
    row.update(
        used_bytes=_sum_of(selectors.undeleted_assets_of_all_workspaces(), workspace_id)
        + _sum_of(PendingFile.objects.filter(abandoned=False), workspace_id)
    )
    return before, row.get().used_bytes


def _sum_of(rows: QuerySet[Any], workspace_id: str) -> Coalesce:
    grouped = rows.filter(workspace_id=workspace_id).order_by().values("workspace_id")
    return Coalesce(Subquery(grouped.annotate(sum=Sum("size_bytes")).values("sum")), 0, output_field=BigIntegerField())


def _exceeded(workspace_id: str, size: int) -> MediaQuotaExceeded:
    return MediaQuotaExceeded(used=selectors.used_quota_bytes(workspace_id), size=size)
