"""Signs of life of the workers. The tables of notices and of operators' second factors are in their own packages."""

from __future__ import annotations

from django.db import models

from config.site.notices.models import Digest, NewsCursor, Notice, NoticeChoice
from config.site.operators.models import SecondFactor

__all__ = ["Digest", "Heartbeat", "NewsCursor", "Notice", "NoticeChoice", "SecondFactor"]


class Heartbeat(models.Model):
    """When a duty of any worker last went its round."""

    duty = models.CharField(primary_key=True, max_length=20)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.duty} {self.beat_at:%H:%M:%S}"
