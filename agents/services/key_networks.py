"""Checks and records the networks from which API keys are used."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from agents.models import ApiKey
from agents.networks import is_in_networks, network_of_key_use
from auditlog.services import record_entry
from config.api import fields, rate_limit
from config.api.caller import Caller
from config.api.errors import Forbidden
from config.api.trace import current_trace_id

MAX_SEEN_NETWORKS = 20  # networks stored for each key; the oldest is dropped first


def require_allowed_network(*, caller: Caller, key: ApiKey) -> None:
    """Raise Forbidden if an API key may not be used from the caller's network, and record the refusal in the audit log.

    Refusals are recorded up to the rate limit, so that a stolen key cannot fill the audit log.
    """
    if not key.allowed_networks or is_in_networks(caller.ip, key.allowed_networks):
        return
    error = Forbidden(
        f"This API key may not be used from {caller.ip or 'an unknown address'}.",
        suggested_action="Call from one of the key's `allowed_networks`, or use a key that allows this network.",
    )
    if rate_limit.count_request_unless_rate_limited(
        rate_limit.Bucket(f"network:{key.id}", settings.RATE_LIMIT_PER_MINUTE)
    ).allowed:
        record_entry(
            caller=caller, operation="api_keys.use", resource_type="api_key", resource_id=key.id, refused_with=error.code
        )
    raise error


def record_key_network_and_return_if_new(*, caller: Caller, key: ApiKey, now: datetime) -> bool:
    """Save the network from which an API key is used, if it is new for the key; returns whether the network was new.

    A key's first network is only saved. Each later one also gets an audit entry, an event and a notice to the owner
    (config/notices). Returns False, without a query, if the network was seen before.
    """
    network = network_of_key_use(caller.ip) if caller.ip else None
    if network is None or network in (key.seen_networks or ()):
        return False
    if key.seen_networks is None:
        first = ApiKey.objects.filter(pk=key.pk, seen_networks__isnull=True)
        if first.update(seen_networks=[network], last_used_at=now):
            return True
    with transaction.atomic():
        locked = ApiKey.objects.select_for_update(no_key=True).filter(pk=key.pk).first()
        if locked is None or network in (locked.seen_networks or ()):  # another request has recorded the network
            return False
        locked.seen_networks = [*(locked.seen_networks or ()), network][-MAX_SEEN_NETWORKS:]
        locked.new_network_at = locked.last_used_at = now
        locked.save(update_fields=["seen_networks", "new_network_at", "last_used_at"])
        record_entry(
            caller=caller,
            operation="api_keys.new_network",
            resource_type="api_key",
            resource_id=key.id,
            metadata={"network": network},
        )
        import_string(settings.EVENT_RECORDER)(
            workspace_id=key.workspace_id,
            kind="api_key.new_network",
            subject_id=key.id,
            trace_id=current_trace_id(),
            data={"api_key": _key_body(locked), "network": network},
        )
    return True


def _key_body(key: ApiKey) -> dict[str, Any]:
    """Return an API key's data for the webhook event about a new network, in the form of ApiKeySerializer."""
    moment = fields.Timestamp().to_representation
    return {
        "id": key.id,
        "workspace_id": key.workspace_id,
        "agent_id": key.agent_id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.held_scopes,
        "status": key.status,
        "created_at": moment(key.created_at),
        "expires_at": moment(key.expires_at) if key.expires_at else None,
        "last_used_at": moment(key.last_used_at) if key.last_used_at else None,
        "allowed_networks": key.allowed_networks,
    }
