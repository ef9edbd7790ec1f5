"""Services that delete media assets, at a caller's request or because their workspace is purged.

The row remains with status deleted. The file is removed with the last asset that shares it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from auditlog.services import record_entry
from config.api.caller import Caller
from config.api.errors import missing_or_foreign_id_error
from config.api.plan import ResourcePlan, accept_plan, row_fields
from media import selectors, storage
from media.backend_limits import limit_bucket_call
from media.errors import MediaInUse
from media.models import MediaAsset
from media.services.quota import subtract_from_used_quota
from workspaces.retention import workspaces_to_purge

logger = logging.getLogger(__name__)


def delete_media(*, caller: Caller, media_id: str, dry_run: bool = False) -> MediaAsset:
    """Delete a media asset that no unfinished post uses.

    Its links stop working, and its file is removed after the commit. Raises ScopeMissing, NotFound (also if already deleted),
    WorkspacePaused, MediaInUse, PlanChanged.
    """
    found = selectors.get_asset(caller=caller, media_id=media_id, scope="media.upload", write=True)
    with transaction.atomic():
        asset = selectors.undeleted_assets_of_all_workspaces().select_for_update().filter(pk=found.pk).first()
        if asset is None:  # deleted a moment ago
            raise missing_or_foreign_id_error(None, "media asset")
        if asset.uses.exists():
            raise MediaInUse()
        before = row_fields(asset, "status", "sha256", "kind", "filename", "alt_text")
        after = {**before, "status": MediaAsset.Status.DELETED}
        accept_plan(ResourcePlan("media.delete", asset.id, before, after))
        asset.status, asset.deleted_at, asset.due_at = MediaAsset.Status.DELETED, timezone.now(), None
        asset.fence += 1  # invalidates the claim of a worker making its thumbnail
        if not dry_run:
            asset.save()
            subtract_from_used_quota(asset.workspace_id, asset.size_bytes)
            transaction.on_commit(lambda: _remove_unused_files([asset]))
        record_entry(
            caller=caller,
            operation="media.delete",
            workspace_id=asset.workspace_id,
            resource_type="media",
            resource_id=asset.id,
            dry_run=dry_run,
            metadata={"kind": asset.kind, "size_bytes": asset.size_bytes},
        )
    return asset


def _remove_unused_files(deleted: Iterable[MediaAsset]) -> int:
    """Remove the files of deleted media assets unless other assets share them; returns for how many assets this succeeded.

    Assets with errors are not counted. A deleted row names its files until they are removed, so the purge retries what the
    storage refuses.
    """
    done = 0
    for asset in deleted:
        try:
            with limit_bucket_call():
                _remove_unused_file("storage_key", asset.storage_key)
                _remove_unused_file("thumbnail_key", asset.thumbnail_key)
            done += 1
        except Exception as error:  # whatever the storage's client raises
            logger.warning("A file of the deleted %s cannot be removed yet: %s", asset.pk, error)
    return done


def _remove_unused_file(field: str, key: str) -> None:
    """Remove a deleted media asset's file from the media storage unless an asset that is not deleted shares the file.

    New uploads never share deleted assets' files.
    """
    if not key:
        return
    having = MediaAsset.objects.filter(**{field: key})
    if not having.filter(status=MediaAsset.Status.READY).exists():
        storage.remove_file(key)
    having.filter(status=MediaAsset.Status.DELETED).update(**{field: ""})


def purge_deleted_files(*, limit: int = 200) -> int:
    """Try again to delete the files of up to `limit` deleted media assets; returns for how many assets this succeeded."""
    has_file = ~Q(storage_key="") | ~Q(thumbnail_key="")
    deleted = MediaAsset.objects.filter(has_file, status=MediaAsset.Status.DELETED)
    return _remove_unused_files(deleted.order_by("deleted_at")[:limit])


def mark_media_deleted_in_workspaces_to_purge(*, limit: int = 200) -> int:
    """Mark up to `limit` media assets of workspaces due to be purged as deleted; returns the number of marked assets."""
    now, ready = timezone.now(), selectors.undeleted_assets_of_all_workspaces()
    ids = list(ready.filter(workspace__in=workspaces_to_purge()).values_list("pk", flat=True)[:limit])
    deletion = {"status": MediaAsset.Status.DELETED, "deleted_at": now, "due_at": None, "updated_at": now}
    return ready.filter(pk__in=ids).update(**deletion)
