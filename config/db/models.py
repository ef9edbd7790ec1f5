"""Abstract models for all apps: rows with creation and update times, and rows that wait for a background worker."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class TimestampedModel(models.Model):
    """An abstract model with `created_at` and `updated_at`; a queryset's update() must be given `updated_at` explicitly."""

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class DueRow(models.Model):
    """An abstract model for rows that background workers process: each at the time `due_at`, or never if that is null."""

    due_at = models.DateTimeField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    fence = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        abstract = True
