"""Removal of operators' second factors: by `manage.py reset_second_factor`, and of unused ones by a retention rule."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from auditlog.services import record_entry
from config.api.caller import system_caller
from config.console.models import SecondFactor
from config.db.retention import ExpiredRowsRule
from workspaces.models import User
from workspaces.sign_in.sessions import end_sessions_of_user

UNCONFIRMED_TTL = timedelta(days=1)


class NoSuchOperator(Exception):
    """The error when a second factor is to be removed, but no operator has the given user name."""


def remove_second_factor_and_sessions(name: str) -> bool:
    """Remove the second factor of the operator with this user name, and sign the operator out everywhere.

    Returns whether there was one. The next sign-in by password sets up a new second factor. Raises NoSuchOperator.
    """
    user = User.objects.filter(username=name, is_staff=True).first()
    if user is None:
        raise NoSuchOperator(name)
    with transaction.atomic():
        removed, _ = SecondFactor.objects.filter(user=user).delete()
        end_sessions_of_user(user)
        record_entry(
            caller=replace(system_caller(), retention_tier="enterprise"),
            operation="operators.reset_second_factor",
            resource_type="user",
            resource_id=user.pk,
        )
    return removed > 0


class UnconfirmedOrFormerSecondFactorsRule(ExpiredRowsRule):
    """The retention rule that removes second factors of former operators, and those not confirmed within a day."""

    name = "second_factors"

    def expired_rows(self) -> QuerySet[SecondFactor]:
        unfinished = Q(confirmed=False, created_at__lt=timezone.now() - UNCONFIRMED_TTL)
        return SecondFactor.objects.filter(unfinished | Q(user__is_staff=False)).order_by("pk")
