"""The home page of a workspace in the dashboard."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils import timezone

from accounts.models import ConnectedAccount
from auditlog import selectors as audit
from billing.caps import SpendCapStatus
from billing.selectors import workspace_spend_cap_status
from posts import selectors as posts
from posts.day_lists import upcoming_posts
from posts.states import GROUP_STATUSES_NEEDING_A_PERSON, GroupStatus
from workspaces.workspace_page import WorkspacePage, workspace_page

MAX_SHOWN_ITEMS = 8
NEARLY_SPENT_SHARE = 0.8  # share of the monthly limit


@workspace_page()
def workspace_home(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: a workspace's home, with open problems, the next posts, spending and recent activity."""
    workspace_id = page.workspace.id
    groups = posts.groups_with_targets().filter(workspace=page.workspace)
    waiting = list(groups.filter(status__in=GROUP_STATUSES_NEEDING_A_PERSON).order_by("-pk")[: MAX_SHOWN_ITEMS + 1])
    accounts = list(ConnectedAccount.objects.filter(workspace=page.workspace).exclude(status="disconnected"))
    cap = workspace_spend_cap_status(workspace_id=workspace_id, at=timezone.now())
    return page.render(
        "home/home.html",
        approvals=[group for group in waiting if group.status == GroupStatus.PENDING_CONFIRMATION],
        problems=[group for group in waiting[:MAX_SHOWN_ITEMS] if group.status != GroupStatus.PENDING_CONFIRMATION],
        to_reconnect=[account for account in accounts if account.status == ConnectedAccount.Status.NEEDS_REAUTH],
        has_real_account=any(not account.sandbox for account in accounts),
        upcoming=upcoming_posts(caller=page.caller, workspace_id=workspace_id, limit=MAX_SHOWN_ITEMS),
        spend=_spend(cap),
        activity=audit.workspace_entries(caller=page.caller, workspace_id=workspace_id)[:MAX_SHOWN_ITEMS],
    )


def _spend(cap: SpendCapStatus) -> dict[str, Any]:
    """Return a workspace's spending this month for its home page: the limit, and how many percent are spent or reserved."""
    limit = cap.cap_plus_free_credit_cents or 0
    used = cap.spent_cents + cap.reserved_cents
    share = (lambda cents: min(100.0, 100.0 * cents / limit)) if limit else (lambda cents: 100.0 if cents else 0.0)
    return {
        "cap": cap,
        "limit_cents": limit,
        "used_cents": used,
        "spent_percent": round(share(cap.spent_cents), 1),
        "used_percent": round(share(used), 1),
        "nearly_spent": limit > 0 and used >= NEARLY_SPENT_SHARE * limit,
    }
