"""Housekeeping of the API's own table."""

from __future__ import annotations

from celery import shared_task

from config.api.idempotency import purge_expired


@shared_task
def purge_idempotency_records() -> int:
    """Delete the idempotency records whose 24 hours have passed."""
    return purge_expired()
