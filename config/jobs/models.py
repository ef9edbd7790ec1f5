"""The Heartbeat model, which records when each worker loop last ran."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """The model of the last time at which a worker loop ran in any worker process; `duty` is the name of the loop."""

    duty = models.CharField(primary_key=True, max_length=20)
    beat_at = models.DateTimeField()

    class Meta:
        db_table = "site_heartbeat"

    def __str__(self) -> str:
        return f"{self.duty} {self.beat_at:%H:%M:%S}"
