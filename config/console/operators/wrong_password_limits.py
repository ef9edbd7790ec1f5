"""Rate limits on wrong passwords in the operators' sign-in, the only place where the service accepts passwords.

- Five failures for a name from one address lock that pair for 15 minutes (django-axes).
- Twenty failures from one address, over all names, lock the address for 15 minutes.
- Ten failures for a name, over all addresses, slow the name down: attempts must be 1 second apart, then 2, 4, and so on up to
  60. Addresses from which the operator has signed in during the last 30 days
  are exempt, so an attack from elsewhere never locks out the operator.

An attempt refused by a limit is not checked and not counted, and does not extend the limit.
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
from django.utils.translation import gettext, ngettext

from config import metrics
from config.api.errors import RateLimited
from config.console.operators import audit
from config.jobs.backoff import exponential_retry_pause
from workspaces.workspace_page import api_error_page

MAX_WRONG_PASSWORDS_PER_ADDRESS = 20
MAX_WRONG_PASSWORDS_PER_NAME = 10
MAX_PAUSE_SECONDS = 60  # seconds between two attempts for a name that is slowed down
IPV6_PREFIX_LENGTH = 64  # the network of one customer counts as one address


class WrongPasswordLockoutHandler(AxesDatabaseHandler):
    """The handler of failed sign-ins for django-axes (AXES_HANDLER), with limits by IP address and by operator name."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, str] | None = None) -> bool:
        """Return whether to refuse a sign-in without checking its password, because too many wrong passwords came before."""
        wait = sign_in_wait_seconds(request, get_client_username(request, credentials) or "")
        request.sign_in_wait = wait  # type: ignore[attr-defined]  # for `locked_out_page`
        if wait:
            metrics.OPERATOR_SIGN_INS.labels("refused").inc()
        return wait > 0


def sign_in_wait_seconds(request: HttpRequest, name: str) -> int:
    """Return how many seconds an operator must wait after wrong passwords from the request's IP address, or 0."""
    now: datetime = request.axes_attempt_time  # type: ignore[attr-defined]  # set by django-axes, as the address is
    address: str | None = request.axes_ip_address  # type: ignore[attr-defined]
    recent = AccessAttempt.objects.filter(attempt_time__gte=now - settings.AXES_COOLOFF_TIME)
    cooloff = settings.AXES_COOLOFF_TIME
    pair, pair_last = _failures(recent.filter(username=name, ip_address=address))
    if pair >= settings.AXES_FAILURE_LIMIT:
        return _seconds_left(pair_last, cooloff, now)
    from_address, address_last = _failures(recent.filter(ip_address=address))
    if from_address >= MAX_WRONG_PASSWORDS_PER_ADDRESS:
        return _seconds_left(address_last, cooloff, now)
    for_name, name_last = _failures(recent.filter(username=name))
    if for_name < MAX_WRONG_PASSWORDS_PER_NAME or _has_signed_in_from(name, address):
        return 0
    pause = exponential_retry_pause(for_name - MAX_WRONG_PASSWORDS_PER_NAME + 1, first=1, longest=MAX_PAUSE_SECONDS)
    return _seconds_left(name_last, pause, now)


def locked_out_page(request: HttpRequest, response: HttpResponse | None = None, credentials: object = None) -> HttpResponse:
    """Return the error page for a sign-in that is refused after too many wrong passwords (AXES_LOCKOUT_CALLABLE)."""
    wait = getattr(request, "sign_in_wait", 0) or int(settings.AXES_COOLOFF_TIME.total_seconds())
    error = RateLimited(
        gettext("Too many failed sign-in attempts."),
        suggested_action=gettext("Wait for %(time)s, then try again.") % {"time": _duration_text(wait)},
    )
    page = api_error_page(request, error)
    page["Retry-After"] = str(wait)
    return page


def sign_in_limit_address(request: HttpRequest) -> str | None:
    """Return the IPv4 address or IPv6 /64 network by which wrong passwords are counted (AXES_CLIENT_IP_CALLABLE)."""
    return _normalized(request.META.get("REMOTE_ADDR", ""))


def _normalized(address: str) -> str | None:
    try:
        found = ip_address(address)
    except ValueError:
        return None
    if found.version == 6:
        return str(ip_network((found, IPV6_PREFIX_LENGTH), strict=False).network_address)
    return str(found)


def _failures(attempts: QuerySet[AccessAttempt]) -> tuple[int, datetime | None]:
    """Return the number of wrong passwords in recorded sign-in attempts, and the time of the last attempt (None if none)."""
    found = attempts.aggregate(total=Sum("failures_since_start"), last=Max("attempt_time"))
    return found["total"] or 0, found["last"]


def _seconds_left(last: datetime | None, pause: timedelta, now: datetime) -> int:
    """Return how many seconds, rounded up, remain of the pause that follows an operator's last wrong password."""
    return max(0, math.ceil((last + pause - now).total_seconds())) if last else 0


def _has_signed_in_from(name: str, address: str | None) -> bool:
    return address is not None and address in {_normalized(used) for used in audit.recent_sign_in_addresses(name)}


def _duration_text(seconds: int) -> str:
    if seconds >= 120:
        return gettext("%(number)s minutes") % {"number": math.ceil(seconds / 60)}
    return ngettext("%(number)s second", "%(number)s seconds", seconds) % {"number": seconds}
