"""Services that upload, describe, delete and reconcile media assets, and mark them as used by posts."""

from __future__ import annotations

from media.services.delete import delete_media, mark_media_deleted_in_workspaces_to_purge, purge_deleted_files
from media.services.describe import set_alt_text
from media.services.edit_image import convert_image_to_jpeg, crop_image
from media.services.pending import purge_pending_files
from media.services.quota import correct_and_yield_wrong_counters
from media.services.reconcile import find_orphaned_and_missing_files, remove_files_without_row
from media.services.upload import upload_media
from media.services.uses import set_media_used_by_post, writes_that_delete_media_uses

__all__ = [
    "convert_image_to_jpeg",
    "correct_and_yield_wrong_counters",
    "crop_image",
    "delete_media",
    "find_orphaned_and_missing_files",
    "mark_media_deleted_in_workspaces_to_purge",
    "purge_deleted_files",
    "purge_pending_files",
    "remove_files_without_row",
    "set_alt_text",
    "set_media_used_by_post",
    "upload_media",
    "writes_that_delete_media_uses",
]
