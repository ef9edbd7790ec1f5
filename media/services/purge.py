"""Background deletion of the files of deleted assets, and of the media of purged workspaces."""

from __future__ import annotations

from django.db.models import Q
from django.utils import timezone

from media import selectors
from media.models import MediaAsset
from media.services.delete import remove_unused_files
from workspaces.retention import workspaces_to_purge


def purge_deleted_files(*, limit: int = 200) -> int:
    """Remove files of up to `limit` deleted assets whose removal failed earlier; returns how many assets."""
    still = ~Q(storage_key="") | ~Q(thumbnail_key="")
    return remove_unused_files(
        MediaAsset.objects.filter(still, status=MediaAsset.Status.DELETED).order_by("deleted_at")[:limit]
    )


def delete_media_of_purged_workspaces(*, limit: int = 200) -> int:
    """Mark up to `limit` assets of purged workspaces as deleted; returns how many."""
    now = timezone.now()
    gone = selectors.ready_assets().filter(workspace__in=workspaces_to_purge())
    ids = list(gone.values_list("pk", flat=True)[:limit])
    return (
        selectors.ready_assets()
        .filter(pk__in=ids)
        .update(status=MediaAsset.Status.DELETED, deleted_at=now, due_at=None, updated_at=now)
    )
