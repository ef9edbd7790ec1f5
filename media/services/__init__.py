"""Services that upload, describe, delete and reconcile media assets, and mark them as used by posts."""

from __future__ import annotations

from media.services.delete import delete_media, delete_media_of_purged_workspaces, purge_deleted_files
from media.services.describe import describe_media
from media.services.pending import purge_pending_files
from media.services.quota import recount_usage
from media.services.reconcile import find_orphans, remove_files_without_row
from media.services.upload import upload_media
from media.services.uses import release_media, use_media

__all__ = [
    "delete_media",
    "delete_media_of_purged_workspaces",
    "describe_media",
    "find_orphans",
    "purge_deleted_files",
    "purge_pending_files",
    "recount_usage",
    "release_media",
    "remove_files_without_row",
    "upload_media",
    "use_media",
]
