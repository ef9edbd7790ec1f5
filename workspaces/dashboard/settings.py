"""A workspace's settings: name and time zone, caps, stop-all, export, deletion."""

from __future__ import annotations

from typing import Any

from django.conf import settings as service
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone

from auditlog.models import RetentionTier
from auditlog.retention import DAYS
from workspaces import services
from workspaces.dashboard.forms import CapsForm, DeletionForm, GeneralForm
from workspaces.frame import WorkspacePage, workspace_page
from workspaces.models import Member
from workspaces.serializers import WorkspaceExportSerializer


@workspace_page()
def settings(page: WorkspacePage) -> HttpResponse:
    """All of them; who may only read sees no forms."""
    return _settings(page)


@workspace_page("POST", operation="workspaces.update")
def general(page: WorkspacePage) -> HttpResponse:
    """Another name or time zone."""
    form = GeneralForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _settings(page, status=422, general=form)
    services.update_workspace(caller=page.caller, workspace_id=page.workspace.id, **form.cleaned_data)
    return page.done("Name and time zone are saved.", "settings")


@workspace_page("POST", operation="workspaces.update_caps")
def caps(page: WorkspacePage) -> HttpResponse:
    """Other caps."""
    form = CapsForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _settings(page, status=422, caps=form)
    services.update_caps(caller=page.caller, workspace_id=page.workspace.id, **form.caps)
    return page.done("The caps are saved. They hold for what comes next.", "settings")


@workspace_page("POST", operation="workspaces.pause")
def pause(page: WorkspacePage) -> HttpResponse:
    """Stop everything."""
    services.pause_workspace(caller=page.caller, workspace_id=page.workspace.id)
    return page.done("Everything is stopped.", "settings")


@workspace_page("POST", operation="workspaces.resume")
def resume(page: WorkspacePage) -> HttpResponse:
    """Lift the owner's pause; an operator's stays."""
    workspace = services.resume_workspace(caller=page.caller, workspace_id=page.workspace.id)
    if workspace.paused_by:
        return page.done("Your pause is lifted. The operator of the service still holds the workspace.", "settings")
    return page.done("The workspace works again; what became due meanwhile goes out now.", "settings")


@workspace_page(operation="workspaces.export")
def export(page: WorkspacePage) -> HttpResponse:
    """The export of the API as a file."""
    workspace = services.export_workspace(caller=page.caller, workspace_id=page.workspace.id)
    exported = WorkspaceExportSerializer({"exported_at": timezone.now(), "workspace": workspace})
    answer = JsonResponse(exported.data, json_dumps_params={"indent": 2, "ensure_ascii": False})
    answer["Content-Disposition"] = f'attachment; filename="workspace-{workspace.id}.json"'
    return answer


@workspace_page("POST", operation="workspaces.delete")
def delete(page: WorkspacePage) -> HttpResponse:
    """Delete the workspace, when its name was typed."""
    form = DeletionForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _settings(page, status=422, deletion=form)
    services.delete_workspace(caller=page.caller, workspace_id=page.workspace.id)
    messages.success(page.request, f"{page.workspace.name} is deleted.")
    return page.go(f"{reverse('dashboard')}?all=1")


def _settings(page: WorkspacePage, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The page, with the form that holds mistakes in place of a new one."""
    fresh = {"general": GeneralForm, "caps": CapsForm, "deletion": DeletionForm}
    shown = {name: forms.get(name) or form(workspace=page.workspace) for name, form in fresh.items()}
    return page.render(
        "workspaces/settings.html",
        status=status,
        is_owner=page.caller.role == Member.Role.OWNER,
        paused_by=page.workspace.paused_by,
        grace_hours=service.SCHEDULE_GRACE_HOURS,
        kept_days=DAYS[RetentionTier(page.workspace.retention_tier)],
        **shown,
    )
