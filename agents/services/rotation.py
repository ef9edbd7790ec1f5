"""Rotating an agent's key, with an overlap in which the key before it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents import selectors
from agents.models import OVERLAP_HOURS, Agent, ApiKey, ClaimToken
from agents.services.keys import default_end, forbid_agents, issue_key, require_grantable
from auditlog.services import record
from config.api.caller import Caller, require_recent_sign_in, require_scope
from config.api.errors import InvalidState


@dataclass(frozen=True)
class KeyRotated:
    """The new key with its token, which is shown once (None in a preview), and the key that goes on for the overlap."""

    api_key: ApiKey
    token: str | None
    retiring_key: ApiKey | None


def rotate_key(*, caller: Caller, agent_id: str, dry_run: bool = False) -> KeyRotated:
    """Issue the agent a new key; the one in use works for 24 hours more, any older one stops at once.

    The agent's claim token is burned, so this also serves an agent that was never claimed. An agent may rotate itself
    without any scope; others need api_keys.write and, as the token is theirs to use, every scope of the agent.
    Raises NotFound, ScopeMissing, Forbidden (an agent, for another), ReauthenticationRequired, InvalidState (revoked),
    WorkspacePaused.
    """
    itself = caller.agent_id is not None and caller.agent_id == agent_id
    if not itself and not caller.is_user:
        require_scope(caller, "api_keys.write")
    found = selectors.agent_of(caller=caller, agent_id=agent_id, scope=None if itself else "api_keys.write", write=True)
    if not itself:
        forbid_agents(caller)
    require_recent_sign_in(caller)
    with transaction.atomic():
        # Whoever rotates, revokes or changes an agent does so under its row's lock, one after the other.
        agent = Agent.objects.select_for_update(no_key=True).get(pk=found.pk)
        if not itself:
            require_grantable(caller, agent.scopes)
        if agent.status == Agent.Status.REVOKED:
            raise InvalidState("The agent is revoked and gets no key any more.")
        retiring = None if dry_run else _retire(agent, timezone.now())
        issued = issue_key(
            workspace_id=agent.workspace_id,
            name=agent.name,
            scopes=(),
            agent=agent,
            expires_at=default_end(),
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
    return KeyRotated(issued.api_key, issued.token, retiring)


def _retire(agent: Agent, now: datetime) -> ApiKey | None:
    """Burn the claim token, give the key in use its last hours and stop the others; returns the one that goes on.

    The claim token goes first: a claim that runs at this moment has then either issued its key or comes too late.
    """
    ClaimToken.objects.filter(agent=agent, burned_at=None).update(burned_at=now)
    live = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), agent=agent, revoked_at=None)
    keys = sorted(live, key=lambda key: (key.retiring_since is None, key.pk))
    if not keys:
        return None
    *older, last = keys
    ApiKey.objects.filter(pk__in=[key.pk for key in older]).update(revoked_at=now, updated_at=now)
    end = now + timedelta(hours=OVERLAP_HOURS)
    last.retiring_since, last.expires_at = last.retiring_since or now, min(last.expires_at or end, end)
    last.save(update_fields=["retiring_since", "expires_at", "updated_at"])
    return last
