"""The retention rule for unused second factors."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from config.console.operators.models import SecondFactor
from config.db.retention import ExpiredRows

UNCONFIRMED_TTL = timedelta(days=1)


class SecondFactors(ExpiredRows):
    """Deletes second factors of former operators, and those that were not confirmed within a day."""

    name = "second_factors"

    def expired_rows(self) -> QuerySet[SecondFactor]:
        unfinished = Q(confirmed=False, created_at__lt=timezone.now() - UNCONFIRMED_TTL)
        return SecondFactor.objects.filter(unfinished | Q(user__is_staff=False)).order_by("pk")
