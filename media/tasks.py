"""Periodic Celery tasks of the media library."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task

from media import services, storage

MIN_LEFTOVER_AGE = timedelta(hours=6)  # longer than any upload takes


@shared_task
def purge_deleted_files() -> int:
    """Remove files of deleted media assets that could not be removed when these were deleted, as a Celery task."""
    return services.purge_deleted_files()


@shared_task
def purge_pending_files() -> int:
    """Remove stored media files that no asset has adopted, as a Celery task."""
    return services.purge_pending_files()


@shared_task
def purge_incoming() -> int:
    """Remove temporary files of media uploads whose process died, as a Celery task."""
    return storage.purge_upload_leftovers(MIN_LEFTOVER_AGE)
