"""The model of idempotency records: stored answers of API requests with an Idempotency-Key."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class IdempotencyRecord(models.Model):
    """The model of an API request with an Idempotency-Key and its stored response; `id` is a SHA-256 that includes the key.

    Ids are plain text, because this layer knows no app. While a request in lease mode runs, `answered_at` is null and
    `lease_until` is set.
    """

    id = models.CharField(primary_key=True, max_length=64, editable=False)
    operation = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    lease_until = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(null=True)
    resource_id = models.CharField(max_length=64, default="", blank=True)
    workspace_id = models.CharField(max_length=30, default="", blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.operation} {self.id[:12]}"
