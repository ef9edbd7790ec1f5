"""Services that upload, describe, delete and reconcile media assets, and mark them as used by posts."""

from __future__ import annotations

from media.services.delete import delete_media, delete_media_of_purged_workspaces, purge_deleted_files
from media.services.describe import set_alt_text
from media.services.pending import purge_pending_files
from media.services.quota import recount_usage
from media.services.reconcile import find_orphans, remove_files_without_row
from media.services.upload import upload_media
from media.services.uses import mark_media_as_used, unmark_media_as_used

__all__ = [
    "delete_media",
    "delete_media_of_purged_workspaces",
    "find_orphans",
    "mark_media_as_used",
    "purge_deleted_files",
    "purge_pending_files",
    "recount_usage",
    "remove_files_without_row",
    "set_alt_text",
    "unmark_media_as_used",
    "upload_media",
]
