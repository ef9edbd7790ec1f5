"""The record of an idempotent call: who called what with which key, and what was answered."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class IdempotencyRecord(models.Model):
    """`id` is the SHA-256 of (workspace, actor, operation, key); caller ids are plain text, since apps lie above this layer.

    A record of a running call outside a transaction ("lease") has `answered_at` null and `lease_until` set.
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
