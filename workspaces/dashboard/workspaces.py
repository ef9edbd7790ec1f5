"""The dashboard's first page: a list of the user's workspaces, and a form to create one."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from auditlog.services import record_refusal
from config.api.errors import ApiError
from workspaces.dashboard.forms import WorkspaceNameAndTimezoneForm
from workspaces.models import Workspace
from workspaces.selectors import undeleted_workspaces
from workspaces.services import create_workspace
from workspaces.workspace_page import add_api_error_to_form, caller_of_request


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def list_or_create_workspaces(request: HttpRequest) -> HttpResponse:
    """Dashboard page: list the user's workspaces and a form to create one.

    With a single workspace and no `?all`, it redirects to that workspace.
    """
    mine = list(undeleted_workspaces().filter(members__user=request.user.pk).order_by("name", "pk"))
    if request.method == "POST":
        form = WorkspaceNameAndTimezoneForm(request.POST, workspace=Workspace())
        created = _create(request, form) if form.is_valid() else None
        return created or render(request, "workspaces/workspaces.html", {"workspaces": mine, "form": form}, status=422)
    if len(mine) == 1 and "all" not in request.GET:
        return redirect("home", workspace_id=mine[0].id)
    return render(
        request,
        "workspaces/workspaces.html",
        {"workspaces": mine, "form": WorkspaceNameAndTimezoneForm(workspace=Workspace())},
    )


def _create(request: HttpRequest, form: WorkspaceNameAndTimezoneForm) -> HttpResponse | None:
    """Create a workspace from the dashboard form and redirect to it. Errors of a refused creation are added to the form."""
    caller = caller_of_request(request)
    try:
        plan = create_workspace(caller=caller, owner_user_id=caller.actor_id, **form.cleaned_data)
    except ApiError as error:
        record_refusal(caller=caller, operation="workspaces.create", error=error, dry_run=False)
        add_api_error_to_form(form, error)
        return None
    return redirect("home", workspace_id=plan.workspace.id)
