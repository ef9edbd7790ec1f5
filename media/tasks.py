"""What the beat has done with the media library."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task

from media import services, storage

MIN_LEFTOVER_AGE = timedelta(hours=6)  # longer than any upload takes: its process has died


@shared_task
def purge_deleted_files() -> int:
    """Remove the files of deleted assets whose storage was away when they were deleted."""
    return services.purge_deleted_files()


@shared_task
def purge_pending_files() -> int:
    """Remove stored files that no asset came to name."""
    return services.purge_pending_files()


@shared_task
def purge_incoming() -> int:
    """Remove what uploads have left behind whose process died."""
    return storage.purge_upload_leftovers(MIN_LEFTOVER_AGE)
