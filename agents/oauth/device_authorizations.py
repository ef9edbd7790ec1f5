"""Device authorizations (RFC 8628): a client without a browser shows a code, which a person enters and decides about."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop
from oauthlib.oauth2 import DeviceCodeGrant

from agents import tokens
from agents.models import DeviceAuthorization, OAuthClient, OAuthGrant
from agents.oauth.grants import RequestedAccess, allow_client_to_act_as_agent, end_grant, may_get_tokens
from auditlog.services import record_entry
from config.api.caller import Caller
from config.api.errors import NotFound

LIFETIME = timedelta(minutes=15)
POLL_INTERVAL_SECONDS = 5  # between the client's requests; each one that comes too early adds as many
USER_CODE_ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"  # 20 consonants (RFC 8628, section 6.1): no words, no digits
USER_CODE_LENGTH = 8
POLL_TOLERANCE = timedelta(seconds=1)  # for clients whose clocks and networks vary


@dataclass(frozen=True)
class StartedDeviceAuthorization:
    """A new device authorization with its two codes, which can be read only now."""

    device_code: str
    user_code: str
    expires_in: int
    interval: int


def begin_device_authorization(*, requested: RequestedAccess) -> StartedDeviceAuthorization:
    """Begin a device authorization: store what a client asks for, and return the codes for the client and for the person."""
    device_code = tokens.generate_token(tokens.DEVICE_CODE_PREFIX)
    user_code = "".join(secrets.choice(USER_CODE_ALPHABET) for _ in range(USER_CODE_LENGTH))
    DeviceAuthorization.objects.create(
        client=requested.client,
        device_code_sha256=tokens.token_digest(device_code),
        user_code=user_code,
        resource=requested.resource,
        scopes=requested.scopes,
        interval=POLL_INTERVAL_SECONDS,
        expires_at=timezone.now() + LIFETIME,
    )
    return StartedDeviceAuthorization(
        device_code, format_user_code(user_code), int(LIFETIME.total_seconds()), POLL_INTERVAL_SECONDS
    )


def format_user_code(user_code: str) -> str:
    """Return a device authorization's user code as people see it: BCDF-GHJK."""
    return f"{user_code[:4]}-{user_code[4:]}"


def find_undecided_device_authorization_or_none(*, entered_code: str) -> DeviceAuthorization | None:
    """Return the undecided device authorization with this user code, in capital letters or not; None if there is none."""
    code = "".join(character for character in entered_code.upper() if character in USER_CODE_ALPHABET)
    waiting = DeviceAuthorization.objects.select_related("client").filter(denied_at=None, grant=None)
    return waiting.filter(user_code=code, expires_at__gt=timezone.now()).first()


def access_requested_by_device(found: DeviceAuthorization) -> RequestedAccess:
    """Return the access that the client of a device authorization asks a person to grant."""
    return RequestedAccess(found.client, found.resource, list(found.scopes))


def allow_device_authorization(*, caller: Caller, workspace_id: str, entered_code: str, **choices: Any) -> OAuthGrant:
    """Allow a device authorization: from now on, its OAuth client may act as a new agent. Returns the grant.

    `choices` are further arguments of `allow_client_to_act_as_agent`. Raises NotFound (the code has expired or was decided
    about), and what that function raises.
    """
    with transaction.atomic():
        found = _locked(entered_code)
        grant, _ = allow_client_to_act_as_agent(
            caller=caller, workspace_id=workspace_id, requested=access_requested_by_device(found), **choices
        )
        DeviceAuthorization.objects.filter(pk=found.pk).update(grant=grant)
    return grant


def deny_device_authorization(*, caller: Caller, entered_code: str) -> None:
    """Refuse the client of a device authorization. Raises NotFound if its code has expired or is already decided."""
    with transaction.atomic():
        found = _locked(entered_code)
        DeviceAuthorization.objects.filter(pk=found.pk).update(denied_at=timezone.now())
        record_entry(caller=caller, operation="oauth.deny", resource_type="oauth_client", resource_id=found.client_id)


def answer_device_poll(*, client: OAuthClient, device_code: str) -> tuple[str | None, OAuthGrant | None]:
    """Answer an OAuth client that polls with a device code: return the code's status and, once allowed, the OAuth grant.

    Needs a transaction. A code that was exchanged already ends its grant.
    """
    rows = DeviceAuthorization.objects.select_for_update(of=("self",), no_key=True)
    digest, now = tokens.token_digest(device_code), timezone.now()
    found = rows.filter(device_code_sha256=digest, client=client).first()
    if found is None:
        return None, None
    grant = OAuthGrant.objects.select_related("agent__workspace").filter(pk=found.grant_id).first()
    if found.denied_at:
        return DeviceCodeGrant.DEVICE_CODE_DENIED, None
    if found.used_at and grant:
        end_grant(grant, reason="device_code_reused")
        return None, None
    if found.expires_at <= now:
        return DeviceCodeGrant.DEVICE_CODE_EXPIRED, None
    if grant:
        return (DeviceCodeGrant.DEVICE_CODE_AUTHORIZED, grant) if may_get_tokens(grant) else (None, None)
    too_early = found.polled_at and now - found.polled_at < timedelta(seconds=found.interval) - POLL_TOLERANCE
    found.polled_at = now
    found.interval += POLL_INTERVAL_SECONDS if too_early else 0
    found.save(update_fields=["polled_at", "interval"])
    return (DeviceCodeGrant.DEVICE_CODE_SLOW_DOWN if too_early else DeviceCodeGrant.DEVICE_CODE_PENDING), None


def _locked(entered_code: str) -> DeviceAuthorization:
    found = find_undecided_device_authorization_or_none(entered_code=entered_code)
    locked = (
        found
        and DeviceAuthorization.objects.select_for_update(of=("self",), no_key=True)
        .select_related("client")
        .filter(pk=found.pk, denied_at=None, grant=None)
        .first()
    )
    if not locked:
        raise NotFound(gettext_noop("This code has expired, or somebody has already decided about it."))
    return locked
