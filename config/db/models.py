"""Abstract models that every app shares: time stamps, and rows that wait for a worker."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class TimestampedModel(models.Model):
    """`created_at` and `updated_at`; a queryset's update() sets `updated_at` itself where it matters."""

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class DueRow(models.Model):
    """A row that a worker has to see to at `due_at` (null: nothing to do). See config/jobs/due.py."""

    due_at = models.DateTimeField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    fence = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        abstract = True
