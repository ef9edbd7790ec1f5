"""Periodic Celery tasks of the media library."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task

from config.api import uploads
from media import services

MIN_LEFTOVER_AGE = timedelta(hours=6)  # longer than any upload takes


@shared_task
def purge_deleted_files() -> int:
    """Remove the files of deleted media assets that could not be removed at the deletion (a periodic Celery task)."""
    return services.purge_deleted_files()


@shared_task
def purge_pending_files() -> int:
    """Remove stored media files that failed uploads left and that belong to no media asset (a periodic Celery task)."""
    return services.purge_pending_files()


@shared_task(name="media.tasks.purge_incoming")
def purge_upload_temp_files() -> int:
    """Remove the temporary files of media uploads whose process died (a periodic Celery task)."""
    return uploads.purge_upload_temp_files(MIN_LEFTOVER_AGE)
