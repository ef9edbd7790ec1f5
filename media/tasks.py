"""Periodic Celery tasks of the media library."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task

from media import services, storage

MIN_LEFTOVER_AGE = timedelta(hours=6)  # longer than any upload takes


@shared_task
def purge_deleted_files() -> int:
    """Run the Celery task that removes the files of deleted media assets, if that failed at the deletion."""
    return services.purge_deleted_files()


@shared_task
def purge_pending_files() -> int:
    """Run the Celery task that removes stored media files that belong to no asset, as failed uploads leave them."""
    return services.purge_pending_files()


@shared_task
def purge_incoming() -> int:
    """Run the Celery task that removes temporary files of media uploads whose process died."""
    return storage.purge_upload_leftovers(MIN_LEFTOVER_AGE)
