"""The dashboard's first pages: the workspaces of a person, and the home of one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.models import ConnectedAccount
from auditlog import selectors as audit
from auditlog.services import record_refusal
from billing.caps import SpendCap
from billing.selectors import spend_cap
from config.api.errors import ApiError
from posts import selectors as posts
from posts.models import PostGroup
from posts.states import FOR_A_PERSON, GroupStatus
from workspaces.dashboard.forms import GeneralForm
from workspaces.frame import WorkspacePage, caller_of, put_errors, workspace_page
from workspaces.models import Workspace
from workspaces.selectors import live_workspaces
from workspaces.services import create_workspace

SHOWN = 8
NEARLY_SPENT = 0.8  # of what may be spent in a month


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def choose(request: HttpRequest) -> HttpResponse:
    """The person's workspaces, and a form for another one; straight on to the only one, unless all are asked for."""
    mine = list(live_workspaces().filter(members__user=request.user.pk).order_by("name", "pk"))
    if request.method == "POST":
        form = GeneralForm(request.POST, workspace=Workspace())
        made = _make(request, form) if form.is_valid() else None
        return made or render(request, "dashboard/workspaces.html", {"workspaces": mine, "form": form}, status=422)
    if len(mine) == 1 and "all" not in request.GET:
        return redirect("home", workspace_id=mine[0].id)
    return render(
        request, "dashboard/workspaces.html", {"workspaces": mine, "form": GeneralForm(workspace=Workspace())}
    )


def _make(request: HttpRequest, form: GeneralForm) -> HttpResponse | None:
    """Make the workspace and go there; None when that is refused, which the form then says."""
    caller = caller_of(request)
    try:
        plan = create_workspace(caller=caller, owner_user_id=caller.actor_id, **form.cleaned_data)
    except ApiError as error:
        record_refusal(caller=caller, operation="workspaces.create", error=error, dry_run=False)
        put_errors(form, error)
        return None
    return redirect("home", workspace_id=plan.workspace.id)


@workspace_page()
def home(page: WorkspacePage) -> HttpResponse:
    """What needs a person, what goes out next, this month's spend, the last activity: a query for each."""
    workspace_id = page.workspace.id
    groups = posts.groups_with_targets().filter(workspace=page.workspace)
    waiting = list(groups.filter(status__in=FOR_A_PERSON).order_by("-pk")[: SHOWN + 1])
    accounts = list(ConnectedAccount.objects.filter(workspace=page.workspace).exclude(status="disconnected"))
    standing = spend_cap(workspace_id=workspace_id, at=timezone.now())
    return page.render(
        "dashboard/home.html",
        approvals=[group for group in waiting if group.status == GroupStatus.PENDING_CONFIRMATION],
        troubles=[group for group in waiting[:SHOWN] if group.status != GroupStatus.PENDING_CONFIRMATION],
        to_reconnect=[account for account in accounts if account.status == ConnectedAccount.Status.NEEDS_REAUTH],
        has_real_account=any(not account.sandbox for account in accounts),
        next_out=_next_out(groups),
        spend=_spend(standing),
        activity=audit.entries_of(caller=page.caller, workspace_id=workspace_id)[:SHOWN],
    )


def _next_out(groups: Any) -> list[PostGroup]:
    coming = groups.filter(status=GroupStatus.SCHEDULED, scheduled_at__gte=timezone.now())
    return list(coming.order_by("scheduled_at", "pk")[:SHOWN])


def _spend(standing: SpendCap) -> dict[str, Any]:
    """The month as a bar of 100: what is spent and what is held of what may be spent."""
    limit = standing.limit_cents or 0
    used = standing.spent_cents + standing.reserved_cents
    share = (lambda cents: min(100.0, 100.0 * cents / limit)) if limit else (lambda cents: 100.0 if cents else 0.0)
    return {
        "standing": standing,
        "limit_cents": limit,
        "used_cents": used,
        "spent_percent": round(share(standing.spent_cents), 1),
        "used_percent": round(share(used), 1),
        "nearly_spent": limit > 0 and used >= NEARLY_SPENT * limit,
    }
