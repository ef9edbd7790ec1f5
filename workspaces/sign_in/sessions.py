"""Sessions of signed-in people: how and when each began, when it was last used, when it ends.

How it began is in the session itself. When it was last used, and from where, is in its row of UserSession, so that a
person can see their sessions and end them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, login
from django.contrib.sessions.models import Session
from django.db.models import TextChoices
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from workspaces.models import User, UserSession
from workspaces.sign_in.claims import NEVER

BACKEND = "django.contrib.auth.backends.ModelBackend"  # asks at each request whether the account is still open
SIGNED_IN_AT = "signed_in_at"  # seconds since 1970, as AUTHENTICATED_AT
SIGNED_IN_BY = "signed_in_by"
AUTHENTICATED_AT = "authenticated_at"  # when the person last proved who they are; a sign-in need not ask for that
NOTED_EVERY = timedelta(minutes=1)
MOST_SHOWN = 100
MAX_USER_AGENT = 400


class SignedInBy(TextChoices):
    """How a session began."""

    PROVIDER = "provider"
    PASSWORD = "password"  # noqa: S105 - a word, not a password
    PASSWORD_AND_CODE = "password_and_code"  # noqa: S105
    LINK = "link"  # development's


def begin_session(request: HttpRequest, person: User, *, by: SignedInBy, authenticated_at: datetime | None) -> None:
    """Sign the person in, under a new session key. An operator's session is bound to end (OPERATOR_SESSION_HOURS)."""
    login(request, person, backend=BACKEND)
    request.session[SIGNED_IN_AT] = timezone.now().timestamp()
    request.session[SIGNED_IN_BY] = by.value
    set_authenticated(request, authenticated_at)
    request.session.set_expiry(timedelta(hours=settings.OPERATOR_SESSION_HOURS) if person.is_staff else None)


def set_authenticated(request: HttpRequest, at: datetime | None) -> None:
    """Note when the person proved who they are; None: that is not known."""
    request.session[AUTHENTICATED_AT] = at.timestamp() if at else None


def signed_in_by(request: HttpRequest) -> str:
    """How the request's session began; "" for one that is older than this note."""
    return str(request.session.get(SIGNED_IN_BY, ""))


def authenticated_at(request: HttpRequest) -> datetime:
    """When the session's person last proved who they are, NEVER when that is not known."""
    at = request.session.get(AUTHENTICATED_AT)
    return datetime.fromtimestamp(at, UTC) if at else NEVER


def note_use(request: HttpRequest, user: User) -> datetime:
    """Note that the session is in use, once a minute at the most. Returns when it was last used before."""
    now = timezone.now()
    began = datetime.fromtimestamp(request.session.setdefault(SIGNED_IN_AT, now.timestamp()), UTC)
    seen = {
        "last_used_at": now,
        "ip": request.META.get("REMOTE_ADDR") or None,
        "user_agent": "".join(filter(str.isprintable, request.headers.get("user-agent", "")))[:MAX_USER_AGENT],
    }
    key = request.session.session_key
    row, created = UserSession.objects.get_or_create(
        session_id=key, defaults={"user_id": user.pk, "signed_in_at": began, **seen}
    )
    if created:
        return now
    if now - row.last_used_at >= NOTED_EVERY:
        UserSession.objects.filter(pk=row.pk).update(**seen)
    return row.last_used_at


def operator_limit_reached(request: HttpRequest, last_used_at: datetime) -> bool:
    """Whether an operator's session is over: too old (OPERATOR_SESSION_HOURS), or unused for too long."""
    now = timezone.now()
    began = datetime.fromtimestamp(request.session[SIGNED_IN_AT], UTC)
    too_old = now - began >= timedelta(hours=settings.OPERATOR_SESSION_HOURS)
    return too_old or now - last_used_at >= timedelta(minutes=settings.OPERATOR_IDLE_MINUTES)


def sessions_of(user: User) -> list[UserSession]:
    """The person's open sessions, the one that was used last first."""
    rows = UserSession.objects.filter(user=user, session__expire_date__gt=timezone.now()).select_related("session")
    seals = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return [row for row in rows.order_by("-last_used_at")[:MOST_SHOWN] if _is_sealed(row.session, seals)]


def _is_sealed(session: Session, seals: list[str]) -> bool:
    """Whether the session still signs somebody in: a sign-out everywhere or a new password ends it and leaves its row."""
    seal = session.get_decoded().get(HASH_SESSION_KEY, "")
    return any(constant_time_compare(seal, each) for each in seals)
