"""The service for media uploads: it inspects and scans a file, removes its geolocation, stores it, and saves its row."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from django.db import transaction
from django.utils import timezone

from auditlog.services import record_entry
from config.api.caller import Caller, requested_or_own_workspace_id, require_access
from config.api.plan import ResourcePlan, accept_plan, row_fields
from config.api.uploads import ReceivedFile, UploadTempFiles, too_large_error
from config.jobs.wake_up import wake_worker_loop_after_commit
from media import inspection, scanning, selectors, storage
from media.backend_limits import limit_bucket_call
from media.fetching import fetch_from_url
from media.file_types import SUFFIXES, max_bytes_of_type, max_upload_bytes_by_first_bytes
from media.models import MediaAsset
from media.services.pending import delete_adopted_pending_row, remove_pending_file_if_unused, store_and_count_pending_file
from media.services.quota import add_to_used_quota, check_file_fits_quota
from media.services.thumbnails import LOOP_NAME

MAX_FILENAME_LENGTH = 255
PLANNED_FIELDS = (
    *("sha256", "kind", "mime_type", "size_bytes", "width", "height", "duration_ms", "filename", "alt_text", "scan_status"),
)
KINDS_WITH_THUMBNAIL = (MediaAsset.Kind.IMAGE, MediaAsset.Kind.GIF, MediaAsset.Kind.VIDEO)


def upload_media(
    *,
    caller: Caller,
    workspace_id: str | None = None,
    upload: ReceivedFile | None = None,
    source_url: str = "",
    filename: str = "",
    alt_text: str = "",
    dry_run: bool = False,
) -> MediaAsset:
    """Upload a media file to the library, either from the request (`upload`) or from `source_url`.

    Nothing is stored before the scanner has approved it. A dry run makes all checks and stores nothing. Raises ScopeMissing,
    ValidationFailed (workspace_id, source_url), WorkspacePaused, MediaTypeNotAllowed, PayloadTooLarge, MediaMalwareDetected,
    MediaScanUnavailable, MediaQuotaExceeded, RateLimited (source_url), ServiceUnavailable, PlanChanged.
    """
    workspace_id = requested_or_own_workspace_id(caller, workspace_id)
    require_access(caller, workspace_id, "media.upload", body_field="workspace_id")
    with UploadTempFiles(max_upload_bytes_by_first_bytes) as spool:
        file = upload or fetch_from_url(source_url, spool, workspace_id=workspace_id)
        asset, file = _examine(file)
        asset.workspace_id, asset.alt_text = workspace_id, alt_text
        asset.filename = _display_filename(filename or file.filename, asset.mime_type)
        check_file_fits_quota(
            workspace_id, asset.size_bytes
        )  # and again where the bytes are counted, because others upload too
        accept_plan(ResourcePlan("media.upload", workspace_id, None, row_fields(asset, *PLANNED_FIELDS)))
        if dry_run:
            _record(caller, asset, dry_run=True)
        elif not _share(caller, asset):
            _store(caller, asset, file)
    return asset


def _examine(file: ReceivedFile) -> tuple[MediaAsset, ReceivedFile]:
    """Inspect and scan an uploaded file; returns its unsaved media asset, and the file to store without geolocation."""
    inspected = inspection.inspect_file(file.path)
    if file.size_bytes > (limit := max_bytes_of_type(inspected.mime_type)):
        raise too_large_error(limit)
    scan = scanning.scan_for_malware(file.path)
    if inspection.remove_geolocation(file.path, inspected.mime_type):
        file = ReceivedFile.from_path(file.path, file.filename)
    asset = MediaAsset(
        kind=inspected.kind,
        mime_type=inspected.mime_type,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        width=inspected.width,
        height=inspected.height,
        duration_ms=inspected.duration_ms,
        scan_status=scan.status,
        scan_engine=scan.engine,
    )
    if asset.kind in KINDS_WITH_THUMBNAIL:
        asset.due_at = timezone.now()
    return asset, file


def _display_filename(filename: str, mime_type: str) -> str:
    """Return an upload's display name: the last path component of the caller's name, without unprintable characters.

    The name is never part of a storage path. It is cut to MAX_FILENAME_LENGTH before its suffix. If nothing is left of it, a
    default name is returned.
    """
    last = re.split(r"[/\\]", filename)[-1]
    label = "".join(character for character in last if character.isprintable()).strip()
    if not label.strip("."):
        return f"upload{SUFFIXES[mime_type]}"
    suffix = PurePosixPath(label).suffix[:20]
    return label if len(label) <= MAX_FILENAME_LENGTH else label[: MAX_FILENAME_LENGTH - len(suffix)] + suffix


def _share(caller: Caller, asset: MediaAsset) -> bool:
    """Save an upload as a media asset that shares the stored file of another asset with the same bytes.

    Returns False if the workspace has no such asset. The other asset is locked, so that it and its file are not deleted
    meanwhile.
    """
    same = selectors.undeleted_assets_of_all_workspaces().filter(workspace_id=asset.workspace_id, sha256=asset.sha256)
    with transaction.atomic():
        other = same.select_for_update().order_by("pk").first()
        if other is None:
            return False
        add_to_used_quota(asset.workspace_id, asset.size_bytes)
        asset.storage_key, asset.thumbnail_key = other.storage_key, other.thumbnail_key
        if asset.thumbnail_key:
            asset.due_at = None
        _insert(caller, asset)
    return True


def _store(caller: Caller, asset: MediaAsset, file: ReceivedFile) -> None:
    """Store an uploaded file and save its media asset; if the asset cannot be saved, the file is removed again."""
    key = storage.new_storage_key(workspace_id=asset.workspace_id, sha256=asset.sha256, suffix=SUFFIXES[asset.mime_type])
    with limit_bucket_call():
        store_and_count_pending_file(file.path, key, workspace_id=asset.workspace_id, counted_bytes=asset.size_bytes)
    asset.storage_key = key
    try:
        with transaction.atomic():
            delete_adopted_pending_row(key)
            _insert(caller, asset)
    except BaseException:
        remove_pending_file_if_unused(key)
        raise


def _insert(caller: Caller, asset: MediaAsset) -> None:
    asset.save(force_insert=True)
    _record(caller, asset)
    if asset.due_at:
        wake_worker_loop_after_commit(LOOP_NAME)


def _record(caller: Caller, asset: MediaAsset, *, dry_run: bool = False) -> None:
    record_entry(
        caller=caller,
        operation="media.upload",
        workspace_id=asset.workspace_id,
        resource_type="media",
        resource_id="" if dry_run else asset.id,
        dry_run=dry_run,
        metadata={"kind": asset.kind, "mime_type": asset.mime_type, "size_bytes": asset.size_bytes},
    )
