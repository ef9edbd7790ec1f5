"""Connection attempts: stored when OAuth begins, used once to exchange the platform's code, and deleted after they expire.

An attempt expires ten minutes after it begins, or ten minutes after its code was exchanged. Each OAuth state allows one
exchange. If the platform cannot be reached, the state stays usable, because the code may still be valid. Any other error
ends the attempt. The connections that an exchange returns are stored encrypted until they are attached: a caller who sends
the same state and code again gets the same accounts.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.errors import OAuthStateInvalid, platform_error_as_api_error
from accounts.models import ConnectionAttempt
from accounts.platforms.base import Platform
from accounts.platforms.errors import CredentialsRejected, PlatformError, Transient
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import AuthorizedAccount, Grant, Identity
from auditlog.services import record_entry
from config.api.caller import Caller, WorkspaceStatus
from config.api.request_limits import limit_outbound_threads_and_seconds

ATTEMPT_LIFETIME = timedelta(minutes=10)


@dataclass(frozen=True)
class BegunConnectionAttempt:
    """A connection attempt that has just begun: the URL to open in the browser for OAuth, and the OAuth `state` value."""

    attempt_id: str
    authorization_url: str = field(repr=False)
    state: str = field(repr=False)
    expires_at: datetime


def begin_connection_attempt(
    *, caller: Caller, workspace_id: str, chosen: Platform, given: Mapping[str, Any]
) -> BegunConnectionAttempt:
    """Begin and store an OAuth connection attempt: request the authorization URL from the platform.

    Call it outside of database transactions, because it may call the platform. Raises CredentialsRejected (given),
    ConnectionUnavailable, PlatformFault, RateLimited.
    """
    state = secrets.token_urlsafe(32)
    redirect_uri = settings.BASE_URL + reverse("connect-callback")
    try:
        with limit_outbound_threads_and_seconds(workspace_id):
            authorization = chosen.begin_oauth(state=state, redirect_uri=redirect_uri, given=given)
    except PlatformError as error:
        raise platform_error_as_api_error(error) from error
    with transaction.atomic():
        attempt = ConnectionAttempt.objects.create(
            workspace_id=workspace_id,
            actor_kind=caller.kind,
            actor_id=caller.actor_id,
            platform=chosen.name,
            state_sha256=_digest(state),
            redirect_uri=redirect_uri,
            begun={"state": state, "authorization_url": authorization.url},
            stored=dict(authorization.stored),
            expires_at=timezone.now() + ATTEMPT_LIFETIME,
        )
        record_entry(
            caller=caller,
            operation="accounts.connect",
            resource_type="connection_attempt",
            resource_id=attempt.id,
            metadata={"platform": chosen.name},
        )
    return BegunConnectionAttempt(attempt.id, authorization.url, state, attempt.expires_at)


def stored_url_and_state_if_unused(*, attempt_id: str) -> dict[str, str | None]:
    """Return the stored authorization URL and `state` of an OAuth attempt, to answer a repeated request to connect.

    Both are None once the attempt has been used or has expired.
    """
    attempt = ConnectionAttempt.objects.filter(pk=attempt_id, expires_at__gt=timezone.now()).first()
    begun = attempt.begun if attempt else None
    return begun or {"authorization_url": None, "state": None}


def find_unexpired_attempt_or_none(state: str) -> ConnectionAttempt | None:
    """Return the unexpired OAuth connection attempt that has this `state`, whether or not its code was exchanged."""
    rows = ConnectionAttempt.objects.select_related("workspace", "account")
    return rows.filter(state_sha256=_digest(state), expires_at__gt=timezone.now()).first()


def was_code_sent_to_platform(attempt: ConnectionAttempt, code: str) -> bool:
    """Return whether this authorization code was sent to the platform for the OAuth connection attempt.

    The exchange may still be running or may have failed. A temporary failure does not count.
    """
    return secrets.compare_digest(attempt.code_sha256, _digest(code))


def require_usable_code(attempt: ConnectionAttempt, code: str) -> None:
    """Raise OAuthStateInvalid if the authorization code can no longer complete the OAuth connection attempt.

    A code is usable if none was exchanged yet, or if this code was exchanged and an account can still be attached.
    """
    if attempt.used_at is not None and (attempt.opened is None or not was_code_sent_to_platform(attempt, code)):
        raise OAuthStateInvalid()


def exchange_code_once_and_store_choices(attempt: ConnectionAttempt, code: str) -> tuple[AuthorizedAccount, ...]:
    """Exchange a connection attempt's OAuth code, once, and store the found accounts in the attempt.

    The platform is called once, outside any transaction; a repeat with the same code returns the stored accounts.
    Raises OAuthStateInvalid, CredentialsRejected, ConnectionUnavailable, PlatformFault, RateLimited.
    """
    require_usable_code(attempt, code)
    if attempt.used_at is not None:
        return tuple(_from_json(each) for each in attempt.opened or ())
    with limit_outbound_threads_and_seconds(attempt.workspace_id):
        return _call_platform(attempt, code)


def _call_platform(attempt: ConnectionAttempt, code: str) -> tuple[AuthorizedAccount, ...]:
    row = ConnectionAttempt.objects.filter(pk=attempt.pk)
    if not row.filter(used_at=None).update(used_at=timezone.now(), code_sha256=_digest(code)):
        raise OAuthStateInvalid()
    try:
        stored = attempt.stored or {}
        opened = get_adapter(attempt.platform).exchange_code_for_accounts(
            code=code, redirect_uri=attempt.redirect_uri, stored=stored
        )
        if not opened:
            raise CredentialsRejected(gettext_noop("This login opens no account that can be connected."))
    except Transient as error:
        row.update(used_at=None, code_sha256="")
        raise platform_error_as_api_error(error) from error
    except PlatformError as error:
        row.update(stored=None, begun=None)
        raise platform_error_as_api_error(error) from error
    sealed = ConnectionAttempt._meta.get_field("opened").encrypt_value(attempt.id, [_to_json(each) for each in opened])
    attempt.expires_at = timezone.now() + ATTEMPT_LIFETIME  # time for the owner to choose an account
    row.update(opened=sealed, stored=None, begun=None, expires_at=attempt.expires_at)
    return opened


def purge_connection_attempts() -> int:
    """Delete OAuth connection attempts that have expired or whose workspace was deleted; returns how many."""
    return connection_attempts_to_purge().delete()[0]


def connection_attempts_to_purge() -> QuerySet[ConnectionAttempt]:
    """Return the queryset of OAuth connection attempts that have expired or whose workspace was deleted."""
    over = Q(expires_at__lte=timezone.now()) | Q(workspace__status=WorkspaceStatus.DELETED)
    return ConnectionAttempt.objects.filter(over)


def _to_json(connection: AuthorizedAccount) -> dict[str, Any]:
    grant = connection.grant
    return {
        "identity": asdict(connection.identity),
        "credentials": dict(grant.credentials),
        "tokens": dict(grant.tokens),
        "external_id": grant.external_id,
        "expires_at": grant.expires_at.isoformat() if grant.expires_at else None,
        "scopes": list(connection.scopes),
    }


def _from_json(stored: Mapping[str, Any]) -> AuthorizedAccount:
    expires_at = datetime.fromisoformat(stored["expires_at"]) if stored["expires_at"] else None
    grant = Grant(stored["credentials"], stored["tokens"], stored["external_id"], expires_at)
    return AuthorizedAccount(Identity(**stored["identity"]), grant, tuple(stored["scopes"]))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
