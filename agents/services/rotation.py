"""Rotate an agent's key, with an overlap during which the previous key still works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents import selectors
from agents.models import KEY_OVERLAP_HOURS, Agent, ApiKey, ClaimToken
from agents.services.keys import default_expiry, forbid_agent_callers, issue_key, require_grantable_scopes
from auditlog.services import record
from config.api.caller import Caller, require_recent_sign_in, require_scope
from config.api.errors import InvalidState


@dataclass(frozen=True)
class RotatedKey:
    """A new agent key with its token, which is shown once (None in a preview), and the previous key."""

    api_key: ApiKey
    token: str | None
    retiring_key: ApiKey | None


def rotate_key(*, caller: Caller, agent_id: str, dry_run: bool = False) -> RotatedKey:
    """Issue a new key to the agent; the current key works for 24 hours more, older ones stop at once.

    The agent's claim token stops working, so this also serves an agent that was never claimed. An agent may rotate its
    own key without any scope; others need api_keys.write and, because they get the token, every scope of the agent.
    Raises NotFound, ScopeMissing, Forbidden (an agent, for another), ReauthenticationRequired, InvalidState (revoked),
    WorkspacePaused.
    """
    itself = caller.agent_id is not None and caller.agent_id == agent_id
    if not itself and not caller.is_user:
        require_scope(caller, "api_keys.write")
    found = selectors.agent_of(caller=caller, agent_id=agent_id, scope=None if itself else "api_keys.write", write=True)
    if not itself:
        forbid_agent_callers(caller)
    require_recent_sign_in(caller)
    with transaction.atomic():
        # The row's lock serializes rotation, revocation and changes of the agent.
        agent = Agent.objects.select_for_update(no_key=True).get(pk=found.pk)
        if not itself:
            require_grantable_scopes(caller, agent.scopes)
        if agent.status == Agent.Status.REVOKED:
            raise InvalidState("The agent is revoked and cannot get a new key.")
        retiring = None if dry_run else _retire(agent, timezone.now())
        issued = issue_key(
            workspace_id=agent.workspace_id,
            name=agent.name,
            scopes=(),
            agent=agent,
            expires_at=default_expiry(),
            save=not dry_run,
        )
        record(
            caller=caller,
            operation="agents.rotate_key",
            resource_type="agent",
            resource_id=agent.id,
            dry_run=dry_run,
            metadata={} if dry_run else {"api_key_id": issued.api_key.id},
        )
    return RotatedKey(issued.api_key, issued.token, retiring)


def _retire(agent: Agent, now: datetime) -> ApiKey | None:
    """End the claim token, let the current key expire after the overlap, and revoke older keys; returns the current key.

    The claim token ends first, so that a concurrent claim has already issued its key or fails.
    """
    ClaimToken.objects.filter(agent=agent, burned_at=None).update(burned_at=now)
    live = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), agent=agent, revoked_at=None)
    keys = sorted(live, key=lambda key: (key.retiring_since is None, key.pk))
    if not keys:
        return None
    *older, last = keys
    ApiKey.objects.filter(pk__in=[key.pk for key in older]).update(revoked_at=now, updated_at=now)
    end = now + timedelta(hours=KEY_OVERLAP_HOURS)
    last.retiring_since, last.expires_at = last.retiring_since or now, min(last.expires_at or end, end)
    last.save(update_fields=["retiring_since", "expires_at", "updated_at"])
    return last
