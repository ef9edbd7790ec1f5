"""Deletion of media assets. The row stays with status deleted; the file is removed with the last asset that shares it."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, not_found_error
from media import selectors, storage
from media.backend_limits import storage_access
from media.errors import MediaInUse
from media.models import MediaAsset
from media.services.quota import release_quota

logger = logging.getLogger(__name__)


def delete_media(*, caller: Caller, media_id: str, dry_run: bool = False) -> MediaAsset:
    """Delete an asset that no unfinished post uses. Its links stop working, and its file is removed after the commit.

    Raises ScopeMissing, NotFound (also if already deleted), WorkspacePaused, MediaInUse.
    """
    found = selectors.get_asset(caller=caller, media_id=media_id, scope="media.upload", write=True)
    with transaction.atomic():
        asset = selectors.ready_assets().select_for_update().filter(pk=found.pk).first()
        if asset is None:  # deleted a moment ago
            raise not_found_error(None, "media asset")
        if asset.uses.exists():
            raise MediaInUse()
        asset.status, asset.deleted_at, asset.due_at = MediaAsset.Status.DELETED, timezone.now(), None
        asset.fence += 1  # invalidates the claim of a worker making its thumbnail
        if not dry_run:
            asset.save()
            release_quota(asset.workspace_id, asset.size_bytes)
            transaction.on_commit(lambda: remove_unused_files([asset]))
        record(
            caller=caller,
            operation="media.delete",
            workspace_id=asset.workspace_id,
            resource_type="media",
            resource_id=asset.id,
            dry_run=dry_run,
            metadata={"kind": asset.kind, "size_bytes": asset.size_bytes},
        )
    return asset


def remove_unused_files(deleted: Iterable[MediaAsset]) -> int:
    """Remove stored files of deleted assets that no ready asset shares; returns how many assets are finished.

    A deleted row names its files until they are removed, so the purge retries what the storage refuses.
    """
    done = 0
    for asset in deleted:
        try:
            with storage_access():
                _release("storage_key", asset.storage_key)
                _release("thumbnail_key", asset.thumbnail_key)
            done += 1
        except Exception as error:  # whatever the storage's client raises
            logger.warning("A file of the deleted %s cannot be removed yet: %s", asset.pk, error)
    return done


def _release(field: str, key: str) -> None:
    """Remove the file unless a ready asset has it. Safe without a lock: new uploads share files of ready assets only."""
    if not key:
        return
    having = MediaAsset.objects.filter(**{field: key})
    if not having.filter(status=MediaAsset.Status.READY).exists():
        storage.remove_file(key)
    having.filter(status=MediaAsset.Status.DELETED).update(**{field: ""})
