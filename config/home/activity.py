"""The recent activity on a workspace's home page: entries of the audit log as sentences, repeated ones counted together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ApiKey
from auditlog.models import ActorType, AuditEntry
from workspaces.selectors import user_name_by_id

# What somebody did, by operation, and what is said instead if it was refused.
ACTIVITY_PHRASES = {
    "accounts.complete_connection": (_("connected an account"), _("was not allowed to connect an account")),
    "accounts.connect": (_("connected an account"), _("was not allowed to connect an account")),
    "accounts.disconnect": (_("disconnected an account"), _("was not allowed to disconnect an account")),
    "accounts.status": (_("checked an account"), _("was not allowed to check an account")),
    "accounts.update_slots": (_("changed an account's slots"), _("was not allowed to change an account's slots")),
    "agents.claim": (_("claimed an agent's key"), _("was not allowed to claim an agent's key")),
    "agents.create": (_("created an agent"), _("was not allowed to create an agent")),
    "agents.revoke": (_("revoked an agent"), _("was not allowed to revoke an agent")),
    "agents.rotate_key": (_("issued an agent's key"), _("was not allowed to issue an agent's key")),
    "agents.update": (_("changed an agent"), _("was not allowed to change an agent")),
    "api_keys.create": (_("created an API key"), _("was not allowed to create an API key")),
    "api_keys.new_network": (
        _("used an API key from a new network"),
        _("was not allowed to use an API key from a new network"),
    ),
    "api_keys.revoke": (_("revoked an API key"), _("was not allowed to revoke an API key")),
    "api_keys.use": (_("used an API key"), _("was not allowed to use an API key")),
    "billing.create_checkout_session": (_("opened the checkout"), _("was not allowed to open the checkout")),
    "billing.create_portal_session": (_("opened payments and invoices"), _("was not allowed to open payments and invoices")),
    "calendar_feeds.create": (_("created a calendar feed"), _("was not allowed to create a calendar feed")),
    "calendar_feeds.delete": (_("deleted a calendar feed"), _("was not allowed to delete a calendar feed")),
    "media.delete": (_("deleted a file"), _("was not allowed to delete a file")),
    "media.describe": (_("described a file"), _("was not allowed to describe a file")),
    "media.upload": (_("uploaded a file"), _("was not allowed to upload a file")),
    "members.accept_invitation": (_("joined the workspace"), _("was not allowed to join the workspace")),
    "members.change_role": (_("changed a member's role"), _("was not allowed to change a member's role")),
    "members.invite": (_("invited somebody"), _("was not allowed to invite somebody")),
    "members.leave": (_("left the workspace"), _("was not allowed to leave the workspace")),
    "members.remove": (_("removed a member"), _("was not allowed to remove a member")),
    "members.withdraw_invitation": (_("withdrew an invitation"), _("was not allowed to withdraw an invitation")),
    "notice_channels.create": (_("added a notice channel"), _("was not allowed to add a notice channel")),
    "notice_channels.delete": (_("removed a notice channel"), _("was not allowed to remove a notice channel")),
    "notice_channels.pause": (_("paused a notice channel"), _("was not allowed to pause a notice channel")),
    "notice_channels.resume": (_("resumed a notice channel"), _("was not allowed to resume a notice channel")),
    "notice_channels.test": (_("sent a test notice"), _("was not allowed to send a test notice")),
    "notice_channels.update": (_("changed a notice channel"), _("was not allowed to change a notice channel")),
    "notices.choose": (_("changed their notices"), _("was not allowed to change their notices")),
    "plans.commit": (_("carried out a plan"), _("was not allowed to carry out a plan")),
    "plans.create": (_("planned a change"), _("was not allowed to plan a change")),
    "posts.cancel": (_("cancelled a post"), _("was not allowed to cancel a post")),
    "posts.confirm": (_("approved a post"), _("was not allowed to approve a post")),
    "posts.create": (_("created a post"), _("was not allowed to create a post")),
    "posts.create_batch": (_("created several posts"), _("was not allowed to create several posts")),
    "posts.reject": (_("rejected a post"), _("was not allowed to reject a post")),
    "posts.resolve": (_("said what became of a post"), _("was not allowed to say what became of a post")),
    "posts.retry": (_("sent a post again"), _("was not allowed to send a post again")),
    "posts.retry_missed": (_("sent a missed post"), _("was not allowed to send missed posts")),
    "posts.update": (_("changed a post"), _("was not allowed to change a post")),
    "posts.update_queue": (_("moved a post in a queue"), _("was not allowed to change a queue")),
    "series.create": (_("created a series"), _("was not allowed to create a series")),
    "series.delete": (_("ended a series"), _("was not allowed to end a series")),
    "series.skip": (_("left out a post of a series"), _("was not allowed to leave out a post of a series")),
    "series.update": (_("changed a series"), _("was not allowed to change a series")),
    "snippets.create": (_("added a snippet"), _("was not allowed to add a snippet")),
    "snippets.delete": (_("deleted a snippet"), _("was not allowed to delete a snippet")),
    "snippets.update": (_("changed a snippet"), _("was not allowed to change a snippet")),
    "webhooks.replay": (_("repeated a webhook delivery"), _("was not allowed to repeat a webhook delivery")),
    "workspaces.create": (_("created the workspace"), _("was not allowed to create the workspace")),
    "workspaces.delete": (_("deleted the workspace"), _("was not allowed to delete the workspace")),
    "workspaces.export": (_("exported the workspace"), _("was not allowed to export the workspace")),
    "workspaces.get_signing_secret": (_("read the webhooks' secret"), _("was not allowed to read the webhooks' secret")),
    "workspaces.hand_over": (_("handed the workspace over"), _("was not allowed to hand the workspace over")),
    "workspaces.pause": (_("stopped everything"), _("was not allowed to stop everything")),
    "workspaces.resume": (_("started the workspace again"), _("was not allowed to start the workspace again")),
    "workspaces.rotate_signing_secret": (
        _("replaced the webhooks' secret"),
        _("was not allowed to replace the webhooks' secret"),
    ),
    "workspaces.update": (_("changed the workspace"), _("was not allowed to change the workspace")),
    "workspaces.update_caps": (_("changed the caps"), _("was not allowed to change the caps")),
}


@dataclass(frozen=True)
class ActivitySentence:
    """A sentence in a workspace's recent activity: what somebody did, how often in a row, and when last."""

    who: str
    deed: str
    times: int
    at: datetime
    refused: bool
    post_group_id: str  # "" unless it was done once, and to a post


def activity_of_audit_entries(entries: Iterable[AuditEntry], *, limit: int) -> list[ActivitySentence]:
    """Return audit entries, which are sorted newest first, as at most `limit` sentences for the home page."""
    rows = list(entries)
    names = _names_of_actors(rows)
    shown = []
    for (actor, operation, outcome), repeated in groupby(rows, lambda row: (row.actor_id, row.operation, row.outcome)):
        same = list(repeated)
        refused = outcome == AuditEntry.Outcome.REFUSED
        shown.append(
            ActivitySentence(
                names.get(actor, gettext("The service") if same[0].actor_type == ActorType.SYSTEM else gettext("An API key")),
                _deed(operation, refused),
                len(same),
                same[0].created_at,
                refused,
                same[0].resource_id if len(same) == 1 and same[0].resource_type == "post_group" else "",
            )
        )
    return shown[:limit]


def _deed(operation: str, refused: bool) -> str:
    """Return the phrase for an audit entry in the recent activity; an operation without a phrase is shown by name."""
    if operation in ACTIVITY_PHRASES:
        return str(ACTIVITY_PHRASES[operation][refused])
    words = gettext("was not allowed to do %(operation)s") if refused else gettext("did %(operation)s")
    return words % {"operation": operation}


def _names_of_actors(entries: list[AuditEntry]) -> dict[str, str]:
    """Return, for the recent activity, the names of the people, agents and API keys in the audit entries, by id."""
    ids = {entry.actor_id for entry in entries}
    agents = dict(Agent.objects.filter(pk__in=ids).values_list("pk", "name"))
    keys = dict(ApiKey.objects.filter(pk__in=ids, agent=None).values_list("pk", "name"))
    return (
        user_name_by_id(user_ids=ids)
        | agents
        | {key: gettext("The API key “%(name)s”") % {"name": name} for key, name in keys.items()}
    )
