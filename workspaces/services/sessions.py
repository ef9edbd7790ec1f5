"""End sessions of users, by deleting rows of django_session and by raising the user's session epoch."""

from __future__ import annotations

from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F

from auditlog.services import record
from config.api.caller import Caller, not_found_error
from workspaces.models import User, UserSession


def sign_out_everywhere(*, caller: Caller, operation: str = "users.sign_out") -> None:
    """End all sessions of the caller, in all browsers. Access tokens of the provider stay valid until they expire."""
    with transaction.atomic():
        end_every_session(User.objects.get(pk=caller.actor_id))
        _record(caller, operation)


def end_session(*, caller: Caller, user_session_id: int) -> None:
    """End one of the caller's own sessions. Raises NotFound for another user's session or an ended one."""
    with transaction.atomic():
        found = UserSession.objects.filter(pk=user_session_id, user_id=caller.actor_id).first()
        if found is None:
            raise not_found_error(None, "session")
        Session.objects.filter(pk=found.session_id).delete()
        _record(caller, "users.end_session")


def end_other_sessions(*, caller: Caller, session_key: str) -> User:
    """End all of the caller's sessions except the one with this key.

    Returns the user, for Django's `update_session_auth_hash`, which moves the remaining session to the new epoch.
    """
    with transaction.atomic():
        user = User.objects.get(pk=caller.actor_id)
        _next_epoch(user)
        Session.objects.filter(user_session__user=user).exclude(pk=session_key).delete()
        _record(caller, "users.end_other_sessions")
    user.refresh_from_db()
    return user


def end_every_session(user: User) -> None:
    """End all sessions of the user. Needs a transaction."""
    _next_epoch(user)
    Session.objects.filter(user_session__user=user).delete()


def _next_epoch(user: User) -> None:
    """Raise the user's session epoch, which ends all sessions, even those without a row of UserSession."""
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)


def _record(caller: Caller, operation: str) -> None:
    record(caller=caller, operation=operation, resource_type="user", resource_id=caller.actor_id)
