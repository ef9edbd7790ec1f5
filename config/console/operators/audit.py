"""Records operators' successful and failed sign-ins in the audit log, the metrics and the log.

The entries belong to no workspace. A failed sign-in names the operator only if the name exists, because the name field may
contain a password by mistake.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone

from auditlog.models import AuditEntry
from auditlog.services import record_entry
from config import metrics
from config.api.caller import Caller, operator_caller
from config.api.errors import Unauthenticated
from workspaces.models import User

logger = logging.getLogger(__name__)
SIGN_IN_OPERATION = "operators.sign_in"
ADDRESS_EXEMPTION_PERIOD = timedelta(days=30)  # how long an address is exempt from the limits after a sign-in
MAX_SIGN_INS_READ = 200
FAILED_SIGN_IN_RETENTION_TIER = "pro"  # failed sign-ins are stored for 90 days, since anybody can cause them


def audit_and_count_operator_sign_in(request: HttpRequest, user: User, *, by: str) -> None:
    """Write the audit entry of an operator's successful sign-in, and count the sign-in in the metrics."""
    metrics.OPERATOR_SIGN_INS.labels("signed_in").inc()
    _record(_caller(request, user), SIGN_IN_OPERATION, user, metadata={"by": by})


def record_failed_operator_sign_in(request: HttpRequest, name: str, *, reason: str) -> None:
    """Record an operator's failed sign-in (wrong password or code) in the audit log, the metrics and the log."""
    metrics.OPERATOR_SIGN_INS.labels(reason).inc()
    user = User.objects.filter(username=name, is_staff=True).first()
    caller = replace(operator_caller(_address(request)), retention_tier=FAILED_SIGN_IN_RETENTION_TIER)
    _record(caller, SIGN_IN_OPERATION, user, metadata={"reason": reason}, refused_with=Unauthenticated.code)
    logger.warning(
        "An operator's sign-in failed (%s): %s, from %s.",
        *(reason, user.pk if user else "no operator has the name that was given", caller.ip),
    )


def record_second_factor_change(request: HttpRequest, user: User, operation: str) -> None:
    """Write the audit entry for an operator's change to the operator's own sign-in, such as a new second factor."""
    _record(_caller(request, user), operation, user)


def failed_sign_in_count_of_operator_since(user: User, since: datetime | None) -> int:
    """Read from the audit log how many sign-ins of an operator have failed since a given time, up to 1,000."""
    entries = AuditEntry.objects.filter(
        workspace_id="", operation=SIGN_IN_OPERATION, resource_id=user.pk, outcome=AuditEntry.Outcome.REFUSED
    )
    recent = entries.filter(created_at__gt=since) if since else entries
    return recent.order_by()[:1000].count()


def recent_sign_in_addresses(name: str) -> list[str]:
    """Read from the audit log the IP addresses of an operator's latest 200 sign-ins in the last 30 days."""
    user = User.objects.filter(username=name, is_staff=True).only("pk").first()
    if user is None:
        return []
    entries = AuditEntry.objects.filter(
        workspace_id="",
        actor_id=user.pk,
        operation=SIGN_IN_OPERATION,
        outcome=AuditEntry.Outcome.SUCCEEDED,
        created_at__gte=timezone.now() - ADDRESS_EXEMPTION_PERIOD,
        ip__isnull=False,
    )
    return [str(ip) for ip in entries.order_by("-pk").values_list("ip", flat=True)[:MAX_SIGN_INS_READ]]


def _record(caller: Caller, operation: str, user: User | None, **more: object) -> None:
    record_entry(
        caller=caller,
        operation=operation,
        resource_type="user",
        resource_id=user.pk if user else "",
        **more,  # type: ignore[arg-type]
    )


def _caller(request: HttpRequest, user: User) -> Caller:
    return replace(operator_caller(_address(request)), actor_id=user.pk)


def _address(request: HttpRequest) -> str | None:
    return request.META.get("REMOTE_ADDR") or None
