"""Second factors that nobody can use any more."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from config.console.operators.models import SecondFactor
from config.db.retention import ExpiredRows

UNCONFIRMED_TTL = timedelta(days=1)


class SecondFactors(ExpiredRows):
    """Those of people who are no operators any more, and those that were begun and never confirmed."""

    name = "second_factors"

    def rows(self) -> QuerySet[SecondFactor]:
        unfinished = Q(confirmed=False, created_at__lt=timezone.now() - UNCONFIRMED_TTL)
        return SecondFactor.objects.filter(unfinished | Q(user__is_staff=False)).order_by("pk")
