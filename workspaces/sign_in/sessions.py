"""The sign-in sessions of users: how they start, when they were last used, and how they end.

The session itself stores when and how it began. Its row of UserSession stores when and from where it was last used, so that
users can see and end their sessions. A session ends when its row of django_session is deleted, or when the user's session
epoch is raised.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, login
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F, TextChoices
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from auditlog.services import record_entry
from config.api.caller import Caller
from config.api.errors import missing_or_foreign_id_error
from workspaces.models import User, UserSession
from workspaces.sign_in.oidc_claims import UNKNOWN_AUTH_TIME

AUTH_BACKEND = "django.contrib.auth.backends.ModelBackend"  # checks `is_active` at each request
SIGNED_IN_AT = "signed_in_at"  # in Unix seconds, like AUTHENTICATED_AT
SIGNED_IN_BY = "sign_in_method"
AUTHENTICATED_AT = "authenticated_at"  # last time the user entered their credentials
LAST_USED_INTERVAL = timedelta(minutes=1)
MAX_SESSIONS_SHOWN = 100
MAX_USER_AGENT = 400


class SignInMethod(TextChoices):
    """The ways in which a user's sign-in session began, such as at the provider, by a link in an e-mail or by password."""

    PROVIDER = "provider"
    EMAIL = "email"
    PASSWORD = "password"  # noqa: S105 - a word, not a password
    PASSWORD_AND_CODE = "password_and_code"  # noqa: S105
    LINK = "link"  # the link in demo.json, in development only


def sign_in_user(request: HttpRequest, person: User, *, by: SignInMethod, authenticated_at: datetime | None) -> None:
    """Sign a user in with a new session key. The session of an operator expires after OPERATOR_SESSION_HOURS."""
    login(request, person, backend=AUTH_BACKEND)
    request.session[SIGNED_IN_AT] = timezone.now().timestamp()
    request.session[SIGNED_IN_BY] = by.value
    set_authenticated_at(request, authenticated_at)
    request.session.set_expiry(timedelta(hours=settings.OPERATOR_SESSION_HOURS) if person.is_staff else None)


def set_authenticated_at(request: HttpRequest, at: datetime | None) -> None:
    """Store in the sign-in session when its user last entered credentials; None means that the time is unknown."""
    request.session[AUTHENTICATED_AT] = at.timestamp() if at else None


def sign_in_method(request: HttpRequest) -> str:
    """Return the way in which the session's user signed in; "" if the session does not contain it."""
    return str(request.session.get(SIGNED_IN_BY, ""))


def authenticated_at(request: HttpRequest) -> datetime:
    """Return when the session's user last entered credentials; UNKNOWN_AUTH_TIME if the session does not contain a time."""
    at = request.session.get(AUTHENTICATED_AT)
    return datetime.fromtimestamp(at, UTC) if at else UNKNOWN_AUTH_TIME


def record_and_return_previous_session_use(request: HttpRequest, user: User) -> datetime:
    """Record that a sign-in session is used, at most once per LAST_USED_INTERVAL; returns when it was last used before."""
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
    if now - row.last_used_at >= LAST_USED_INTERVAL:
        UserSession.objects.filter(pk=row.pk).update(**seen)
    return row.last_used_at


def has_operator_session_expired(request: HttpRequest, last_used_at: datetime) -> bool:
    """Return whether an operator's sign-in session is too old (OPERATOR_SESSION_HOURS) or was unused for too long."""
    now = timezone.now()
    began = datetime.fromtimestamp(request.session[SIGNED_IN_AT], UTC)
    too_old = now - began >= timedelta(hours=settings.OPERATOR_SESSION_HOURS)
    return too_old or now - last_used_at >= timedelta(minutes=settings.OPERATOR_IDLE_MINUTES)


def valid_sessions_of_user(user: User) -> list[UserSession]:
    """Return the valid ones of a user's 100 most recently used sign-in sessions, most recently used first."""
    rows = UserSession.objects.filter(user=user, session__expire_date__gt=timezone.now()).select_related("session")
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return [row for row in rows.order_by("-last_used_at")[:MAX_SESSIONS_SHOWN] if _has_current_hash(row.session, hashes)]


def sign_out_everywhere(*, caller: Caller, operation: str = "users.sign_out") -> None:
    """End all sign-in sessions of the calling user, in all browsers. The identity provider's access tokens stay valid."""
    with transaction.atomic():
        end_sessions_of_user(User.objects.get(pk=caller.actor_id))
        _record_session_end(caller, operation)


def end_session(*, caller: Caller, user_session_id: int) -> None:
    """End one of the calling user's own sign-in sessions. Raises NotFound if there is no such session."""
    with transaction.atomic():
        found = UserSession.objects.filter(pk=user_session_id, user_id=caller.actor_id).first()
        if found is None:
            raise missing_or_foreign_id_error(None, "session")
        Session.objects.filter(pk=found.session_id).delete()
        _record_session_end(caller, "users.end_session")


def end_other_sessions(*, caller: Caller, session_key: str) -> User:
    """End all sign-in sessions of the calling user except the session with this session key.

    Returns the user, for Django's `update_session_auth_hash`, which moves the remaining session to the new epoch.
    """
    with transaction.atomic():
        user = User.objects.get(pk=caller.actor_id)
        end_sessions_of_user(user, except_key=session_key)
        _record_session_end(caller, "users.end_other_sessions")
    user.refresh_from_db()
    return user


def end_sessions_of_user(user: User, *, except_key: str = "") -> None:
    """End a user's sign-in sessions: delete their rows, and raise the counter (epoch) that valid sessions must match.

    The new epoch also ends sessions without a row of UserSession. The session with `except_key` can be moved to it.
    Needs a transaction.
    """
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
    Session.objects.filter(user_session__user=user).exclude(pk=except_key).delete()


def _has_current_hash(session: Session, hashes: list[str]) -> bool:
    """Return whether a user's sign-in session has the current hash, which a new password or a sign-out everywhere changes."""
    stored_hash = session.get_decoded().get(HASH_SESSION_KEY, "")
    return any(constant_time_compare(stored_hash, each) for each in hashes)


def _record_session_end(caller: Caller, operation: str) -> None:
    record_entry(caller=caller, operation=operation, resource_type="user", resource_id=caller.actor_id)
