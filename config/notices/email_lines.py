"""The lines of e-mail notices about posts, webhook deliveries, API keys and budgets, in the language of the e-mail."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import gettext

from accounts.platforms.registry import get_adapter
from agents.models import ApiKey
from billing.nearly_spent_budgets import WorkspaceBudgetUse
from config.pages.language import format_date, format_us_dollars
from posts.models import PostGroup
from webhooks.models import Delivery
from workspaces.models import Workspace
from workspaces.services import short_printable_name

PLAN_HASH_LENGTH = len("sha256:") + 12  # as much of it as a person compares


def post_line(group: PostGroup, workspace: Workspace) -> str:
    """Return the line of a notice e-mail that describes a post: its platforms and times, but not its text."""
    names = dict.fromkeys(get_adapter(target.platform).label for target in group.targets.all())
    first = group.shown_scheduled_at_or_none
    words = gettext("To %(platforms)s, for %(time)s, created %(created)s")
    if not first:
        words = gettext("To %(platforms)s, without a time, created %(created)s")
    return words % {
        "platforms": ", ".join(names),
        "time": time_with_zone_name(first, workspace) if first else "",
        "created": time_with_zone_name(group.created_at, workspace),
    }


def plan_hash_line(group: PostGroup) -> str:
    """Return the line of a notice e-mail with the beginning of the hash of a post's plan; the post's page shows all of it."""
    return gettext("Plan %(hash)s…") % {"hash": group.plan_hash[:PLAN_HASH_LENGTH]} if group.plan_hash else ""


def webhook_delivery_line(row: Delivery) -> str:
    """Return the line of a notice e-mail about a webhook delivery: its event, the receiver's host and the last answer."""
    line = gettext("%(event)s to %(host)s, last answer %(status)s")
    if not row.last_status_code:
        line = gettext("%(event)s to %(host)s, no answer")
    host = row.host or gettext("an address that is not allowed")
    return line % {"event": row.event.kind, "host": host, "status": row.last_status_code}


def new_ip_network_line(key: ApiKey, workspace: Workspace) -> str:
    """Return the line of a notice e-mail about a key that was used from a new network: its name, the network and the time."""
    details = [
        *(key.seen_networks or [])[-1:],
        *([time_with_zone_name(key.new_network_at, workspace)] if key.new_network_at else []),
    ]
    return f"{short_printable_name(key.name)} ({key.prefix}…): {', '.join(details)}"


def budget_line(use: WorkspaceBudgetUse) -> str:
    """Return the line of a notice e-mail about a budget: its month, and how much of it is used."""
    used, limit = format_us_dollars(use.used_cents), format_us_dollars(use.limit_cents)
    words = gettext("%(month)s: %(used)s of %(limit)s is spent or reserved for scheduled posts")
    return words % {"month": format_date(use.month, "F Y"), "used": used, "limit": limit}


def time_with_zone_name(moment: datetime, workspace: Workspace) -> str:
    """Return a time, for a line of a notice e-mail, in the workspace's time zone and with the zone's name."""
    local = timezone.localtime(moment, ZoneInfo(workspace.default_timezone))
    return f"{format_date(local, 'j M Y, H:i')} ({workspace.default_timezone})"
