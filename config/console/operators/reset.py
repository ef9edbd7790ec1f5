"""Removes an operator's second factor, for `manage.py reset_second_factor`."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from auditlog.services import record
from config.api.caller import system_caller
from config.console.operators.models import SecondFactor
from workspaces.models import User
from workspaces.services import end_every_session


class NoSuchOperator(Exception):
    """No operator has this user name."""


def reset_second_factor(name: str) -> bool:
    """Remove the second factor of the operator with this user name, and end their sessions.

    Returns whether there was one. The next sign-in by password sets up a new second factor. Raises NoSuchOperator.
    """
    user = User.objects.filter(username=name, is_staff=True).first()
    if user is None:
        raise NoSuchOperator(name)
    with transaction.atomic():
        removed, _ = SecondFactor.objects.filter(user=user).delete()
        end_every_session(user)
        record(
            caller=replace(system_caller(), retention_tier="enterprise"),
            operation="operators.reset_second_factor",
            resource_type="user",
            resource_id=user.pk,
        )
    return removed > 0
