"""Limits on wrong passwords of operators. The console is the only place that takes passwords.

- Five failures for a name from one address lock that pair for 15 minutes (django-axes).
- Twenty failures from one address, over all names, lock the address for 15 minutes.
- Ten failures for a name, over all addresses, slow the name down: each further attempt has to come later than the one
  before, by 1 second, then 2, 4, and so on to 60. Addresses from which the operator has signed in during the last 30 days
  are exempt, so an attack from elsewhere never keeps the operator out.

An attempt that is refused by a limit is not checked, not counted, and does not prolong the limit.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Max, QuerySet, Sum
from django.http import HttpRequest, HttpResponse

from config import metrics
from config.api.errors import RateLimited
from config.console.operators import audit
from config.jobs.backoff import doubling_pause
from workspaces.frame import error_page

ADDRESS_LIMIT = 20
NAME_LIMIT = 10
LONGEST_PAUSE = 60  # seconds between two attempts for a name that is slowed down
IPV6_NETWORK = 64  # one customer's share of addresses counts as one address


class SignInLimits(AxesDatabaseHandler):
    """django-axes' handler with the two limits that it does not offer (AXES_HANDLER)."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, str] | None = None) -> bool:
        """Whether this attempt is refused without looking at the password."""
        wait = seconds_to_wait(request, get_client_username(request, credentials) or "")
        request.sign_in_wait = wait  # type: ignore[attr-defined]  # for `locked_out`
        if wait:
            metrics.OPERATOR_SIGN_INS.labels("refused").inc()
        return wait > 0


def seconds_to_wait(request: HttpRequest, name: str) -> int:
    """For how long attempts for this name from this request's address are refused; 0 when they are not."""
    now: datetime = request.axes_attempt_time  # type: ignore[attr-defined]  # set by django-axes, as the address is
    address: str | None = request.axes_ip_address  # type: ignore[attr-defined]
    recent = AccessAttempt.objects.filter(attempt_time__gte=now - settings.AXES_COOLOFF_TIME)
    whole = settings.AXES_COOLOFF_TIME
    pair, pair_last = _failures(recent.filter(username=name, ip_address=address))
    if pair >= settings.AXES_FAILURE_LIMIT:
        return _left(pair_last, whole, now)
    from_address, address_last = _failures(recent.filter(ip_address=address))
    if from_address >= ADDRESS_LIMIT:
        return _left(address_last, whole, now)
    for_name, name_last = _failures(recent.filter(username=name))
    if for_name < NAME_LIMIT or _is_known(name, address):
        return 0
    pause = doubling_pause(for_name - NAME_LIMIT + 1, first=1, longest=LONGEST_PAUSE)
    return _left(name_last, pause, now)


def locked_out(request: HttpRequest, response: HttpResponse | None = None, credentials: object = None) -> HttpResponse:
    """The answer to a refused attempt, and to the one that reached a limit (AXES_LOCKOUT_CALLABLE)."""
    wait = getattr(request, "sign_in_wait", 0) or int(settings.AXES_COOLOFF_TIME.total_seconds())
    error = RateLimited(
        "Too many attempts to sign in have failed.",
        suggested_action=f"Wait for {_in_words(wait)}, then try again.",
    )
    page = error_page(request, error)
    page["Retry-After"] = str(wait)
    return page


def counted_address(request: HttpRequest) -> str | None:
    """The address whose attempts are counted together (AXES_CLIENT_IP_CALLABLE)."""
    return _counted(request.META.get("REMOTE_ADDR", ""))


def _counted(address: str) -> str | None:
    try:
        found = ip_address(address)
    except ValueError:
        return None
    if found.version == 6:
        return str(ip_network((found, IPV6_NETWORK), strict=False).network_address)
    return str(found)


def _failures(attempts: QuerySet[AccessAttempt]) -> tuple[int, datetime | None]:
    """How many there were, and when the last one was."""
    found = attempts.aggregate(total=Sum("failures_since_start"), last=Max("attempt_time"))
    return found["total"] or 0, found["last"]


def _left(last: datetime | None, pause: timedelta, now: datetime) -> int:
    """Whole seconds until the pause after the last failure is over."""
    return max(0, math.ceil((last + pause - now).total_seconds())) if last else 0


def _is_known(name: str, address: str | None) -> bool:
    return address is not None and address in {_counted(used) for used in audit.addresses_of(name)}


def _in_words(seconds: int) -> str:
    if seconds >= 120:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
