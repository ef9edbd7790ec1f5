"""The home page of a workspace in the dashboard."""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.http import HttpResponse
from django.utils import timezone

from auditlog import selectors as audit
from billing.caps import SpendCapStatus
from billing.selectors import workspace_spend_cap_status
from config.home.activity import activity_of_audit_entries
from config.home.attention import NEARLY_SPENT, needs_for_attention
from config.home.first_steps import first_steps
from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.calendar import first_posts_of_days_this_week
from posts.day_lists import next_released_posts
from workspaces.workspace_page import WorkspacePage, workspace_page

SHOWN_UPCOMING = 6
SHOWN_ACTIVITY = 6
AUDIT_ENTRIES_READ = 60  # entries of the audit log from which the activity is made
POSTS_PER_DAY = 5  # in the strip of this week


@workspace_page()
def workspace_home(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: a workspace's home, with first steps, what needs a person, this week, spending and activity."""
    workspace_id = page.workspace.id
    cap = workspace_spend_cap_status(workspace_id=workspace_id, at=timezone.now())
    steps = first_steps(page)
    entries = audit.audit_entries_of_workspace(caller=page.caller, workspace_id=workspace_id).filter(dry_run=False)
    needs = needs_for_attention(page, cap)
    week = first_posts_of_days_this_week(page, per_day=POSTS_PER_DAY)
    upcoming = next_released_posts(caller=page.caller, workspace_id=workspace_id, limit=SHOWN_UPCOMING)
    targets = chain(
        (target for need in needs for target in need.targets),
        (target for day in week for post in day.posts for target in post.targets),
        (target for group in upcoming for target in group.targets.all()),
    )
    marks = AccountMarks(page, targets)
    return page.render(
        "home/home.html",
        steps=steps,
        steps_done=sum(step.done for step in steps),
        needs=[(need, marks.marks_of_post(need.targets)) for need in needs],
        week=[(day, [(post, marks.marks_of_post(post.targets)) for post in day.posts]) for day in week],
        upcoming=[(group, marks.marks_of_post(group.targets.all())) for group in upcoming],
        sprite=marks.sprite(),
        spend=_spend(cap),
        activity=activity_of_audit_entries(entries[:AUDIT_ENTRIES_READ], limit=SHOWN_ACTIVITY),
    )


def _spend(cap: SpendCapStatus) -> dict[str, Any]:
    """Return a workspace's spending this month for its home page: the limit, and how many percent are spent or reserved."""
    limit = cap.spend_limit_cents_or_none or 0
    used = cap.spent_cents + cap.reserved_cents
    share = (lambda cents: min(100.0, 100.0 * cents / limit)) if limit else (lambda cents: 100.0 if cents else 0.0)
    return {
        "cap": cap,
        "limit_cents": limit,
        "spent_percent": round(share(cap.spent_cents), 1),
        "used_percent": round(share(used), 1),
        "nearly_spent": limit > 0 and used >= NEARLY_SPENT * limit,
    }
