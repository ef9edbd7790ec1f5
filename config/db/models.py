"""Abstract database models for all apps: creation and update times, and rows that are due for a worker."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class TimestampedModel(models.Model):
    """An abstract model with `created_at` and `updated_at`; a queryset's update() must set `updated_at` itself."""

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class DueRow(models.Model):
    """An abstract model for due rows: a worker processes each at its `due_at`, or never while that is null."""

    due_at = models.DateTimeField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    fence = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        abstract = True
