"""The recent activity on a workspace's home page: entries of the audit log as sentences, repeated ones counted together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from agents.models import Agent, ApiKey
from auditlog.models import ActorType, AuditEntry
from workspaces.selectors import names_of_users

# What somebody did, by operation. "was refused" follows if it was refused: "was refused to create a post".
DEEDS = {
    "accounts.complete_connection": ("connected an account", "connect an account"),
    "accounts.connect": ("connected an account", "connect an account"),
    "accounts.disconnect": ("disconnected an account", "disconnect an account"),
    "accounts.status": ("checked an account", "check an account"),
    "accounts.update_slots": ("changed an account's slots", "change an account's slots"),
    "agents.claim": ("claimed an agent's key", "claim an agent's key"),
    "agents.create": ("created an agent", "create an agent"),
    "agents.revoke": ("revoked an agent", "revoke an agent"),
    "agents.rotate_key": ("issued an agent's key", "issue an agent's key"),
    "agents.update": ("changed an agent", "change an agent"),
    "api_keys.create": ("created an API key", "create an API key"),
    "api_keys.new_network": ("used an API key from a new network", "use an API key from a new network"),
    "api_keys.revoke": ("revoked an API key", "revoke an API key"),
    "api_keys.use": ("used an API key", "use an API key"),
    "billing.create_checkout_session": ("opened the checkout", "open the checkout"),
    "billing.create_portal_session": ("opened payments and invoices", "open payments and invoices"),
    "calendar_feeds.create": ("created a calendar feed", "create a calendar feed"),
    "calendar_feeds.delete": ("deleted a calendar feed", "delete a calendar feed"),
    "media.delete": ("deleted a file", "delete a file"),
    "media.describe": ("described a file", "describe a file"),
    "media.upload": ("uploaded a file", "upload a file"),
    "members.accept_invitation": ("joined the workspace", "join the workspace"),
    "members.change_role": ("changed a member's role", "change a member's role"),
    "members.invite": ("invited somebody", "invite somebody"),
    "members.leave": ("left the workspace", "leave the workspace"),
    "members.remove": ("removed a member", "remove a member"),
    "members.withdraw_invitation": ("withdrew an invitation", "withdraw an invitation"),
    "notices.choose": ("changed their notices", "change their notices"),
    "plans.commit": ("carried out a plan", "carry out a plan"),
    "plans.create": ("planned a change", "plan a change"),
    "posts.cancel": ("cancelled a post", "cancel a post"),
    "posts.confirm": ("approved a post", "approve a post"),
    "posts.create": ("created a post", "create a post"),
    "posts.create_batch": ("created several posts", "create several posts"),
    "posts.reject": ("rejected a post", "reject a post"),
    "posts.resolve": ("said what became of a post", "say what became of a post"),
    "posts.retry": ("sent a post again", "send a post again"),
    "posts.update": ("changed a post", "change a post"),
    "series.create": ("created a series", "create a series"),
    "series.delete": ("ended a series", "end a series"),
    "series.skip": ("left out a post of a series", "leave out a post of a series"),
    "series.update": ("changed a series", "change a series"),
    "webhooks.replay": ("repeated a webhook delivery", "repeat a webhook delivery"),
    "workspaces.create": ("created the workspace", "create the workspace"),
    "workspaces.delete": ("deleted the workspace", "delete the workspace"),
    "workspaces.export": ("exported the workspace", "export the workspace"),
    "workspaces.get_signing_secret": ("read the webhooks' secret", "read the webhooks' secret"),
    "workspaces.hand_over": ("handed the workspace over", "hand the workspace over"),
    "workspaces.pause": ("stopped everything", "stop everything"),
    "workspaces.resume": ("started the workspace again", "start the workspace again"),
    "workspaces.rotate_signing_secret": ("replaced the webhooks' secret", "replace the webhooks' secret"),
    "workspaces.update": ("changed the workspace", "change the workspace"),
    "workspaces.update_caps": ("changed the caps", "change the caps"),
}


@dataclass(frozen=True)
class Activity:
    """What somebody did in a workspace once or several times in a row, as a sentence, and when they last did it."""

    who: str
    deed: str
    times: int
    at: datetime
    refused: bool
    post_group_id: str  # "" unless it was done once, and to a post


def recent_activity(entries: Iterable[AuditEntry], *, limit: int) -> list[Activity]:
    """Return audit entries, which are sorted newest first, as at most `limit` sentences for the home page."""
    rows = list(entries)
    names = _names_of_actors(rows)
    shown = []
    for (actor, operation, outcome), repeated in groupby(rows, lambda row: (row.actor_id, row.operation, row.outcome)):
        same = list(repeated)
        refused = outcome == AuditEntry.Outcome.REFUSED
        shown.append(
            Activity(
                names.get(actor, "The service" if same[0].actor_type == ActorType.SYSTEM else "An API key"),
                _deed(operation, refused),
                len(same),
                same[0].created_at,
                refused,
                same[0].resource_id if len(same) == 1 and same[0].resource_type == "post_group" else "",
            )
        )
    return shown[:limit]


def _deed(operation: str, refused: bool) -> str:
    """Return what an audit entry says was done or refused; an operation without words is named."""
    done, infinitive = DEEDS.get(operation, (f"did {operation}", f"do {operation}"))
    return f"was not allowed to {infinitive}" if refused else done


def _names_of_actors(entries: list[AuditEntry]) -> dict[str, str]:
    """Return the names of the people, agents and API keys that caused the audit entries, by id."""
    ids = {entry.actor_id for entry in entries}
    agents = dict(Agent.objects.filter(pk__in=ids).values_list("pk", "name"))
    keys = dict(ApiKey.objects.filter(pk__in=ids, agent=None).values_list("pk", "name"))
    return names_of_users(user_ids=ids) | agents | {key: f"The API key “{name}”" for key, name in keys.items()}
