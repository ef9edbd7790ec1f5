"""The dashboard's settings page of a workspace: name and time zone, caps, pause, export, deletion."""

from __future__ import annotations

from typing import Any

from django.conf import settings as service
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from auditlog.models import RetentionTier
from auditlog.retention import RETENTION_DAYS
from workspaces import services
from workspaces.dashboard.forms import MonthlyCapsForm, WorkspaceDeletionForm, WorkspaceNameAndTimezoneForm
from workspaces.models import Member
from workspaces.serializers import ExportedWorkspaceSerializer
from workspaces.workspace_page import WorkspacePage, workspace_page


@workspace_page()
def show_settings(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show the workspace's settings; users who may not change them see no forms."""
    return _settings(page)


@workspace_page("POST", operation="workspaces.update")
def save_workspace_name_and_timezone(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: change the workspace's name and time zone from the settings page."""
    form = WorkspaceNameAndTimezoneForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _settings(page, status=422, general=form)
    services.update_name_and_timezone(caller=page.caller, workspace_id=page.workspace.id, **form.cleaned_data)
    return page.success_redirect(_("Name and time zone are saved."), "settings")


@workspace_page("POST", operation="workspaces.update_caps")
def change_monthly_caps(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: change the workspace's monthly caps from the settings page."""
    form = MonthlyCapsForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _settings(page, status=422, caps=form)
    services.update_caps(caller=page.caller, workspace_id=page.workspace.id, **form.caps)
    return page.success_redirect(_("The caps are saved. They apply from now on."), "settings")


@workspace_page("POST", operation="workspaces.update")
def change_whether_editors_need_approval(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: decide from the settings page whether posts by editors need approval."""
    needed = "editors_need_approval" in page.request.POST
    services.set_editors_need_approval(caller=page.caller, workspace_id=page.workspace.id, needed=needed)
    words = _("Posts by editors now wait for approval.") if needed else _("Editors now publish without approval.")
    return page.success_redirect(words, "settings")


@workspace_page("POST", operation="workspaces.pause")
def pause_workspace(page: WorkspacePage) -> HttpResponse:
    """Dashboard settings: pause the workspace, which stops changes and scheduled posts. Only its owner may do this."""
    services.pause_workspace(caller=page.caller, workspace_id=page.workspace.id)
    return page.success_redirect(_("Everything is stopped."), "settings")


@workspace_page("POST", operation="workspaces.resume")
def resume_workspace(page: WorkspacePage) -> HttpResponse:
    """Dashboard settings: end the owner's pause of the workspace. A pause by an operator of the service stays."""
    workspace = services.resume_workspace(caller=page.caller, workspace_id=page.workspace.id)
    if workspace.paused_by:
        return page.success_redirect(
            _("Your pause is lifted. The workspace is still paused by the operator of the service."), "settings"
        )
    return page.success_redirect(
        _("The workspace is active again. Posts that became due meanwhile are published now."), "settings"
    )


@workspace_page(operation="workspaces.export")
def download_workspace_without_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: download the workspace's own record, without its posts, as JSON from the settings page."""
    workspace = services.load_workspace_and_audit_export(caller=page.caller, workspace_id=page.workspace.id)
    exported = ExportedWorkspaceSerializer({"exported_at": timezone.now(), "workspace": workspace})
    answer = JsonResponse(exported.data, json_dumps_params={"indent": 2, "ensure_ascii": False})
    answer["Content-Disposition"] = f'attachment; filename="workspace-{workspace.id}.json"'
    return answer


@workspace_page("POST", operation="workspaces.delete")
def delete_workspace(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: delete the workspace from its settings page, if the user has typed its name correctly."""
    form = WorkspaceDeletionForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _settings(page, status=422, deletion=form)
    services.delete_workspace(caller=page.caller, workspace_id=page.workspace.id)
    messages.success(page.request, _("%(workspace)s is deleted.") % {"workspace": page.workspace.name})
    return page.redirect(f"{reverse('dashboard')}?all=1")


def _settings(page: WorkspacePage, *, status: int = 200, **forms: Any) -> HttpResponse:
    """Render the workspace's settings page. A form in `forms` that has errors is shown again as it was submitted."""
    fresh = {"general": WorkspaceNameAndTimezoneForm, "caps": MonthlyCapsForm, "deletion": WorkspaceDeletionForm}
    shown = {name: forms.get(name) or form(workspace=page.workspace) for name, form in fresh.items()}
    return page.render(
        "workspaces/settings.html",
        status=status,
        is_owner=page.caller.role == Member.Role.OWNER,
        paused_by=page.workspace.paused_by,
        grace_hours=service.SCHEDULE_GRACE_HOURS,
        retention_days=RETENTION_DAYS[RetentionTier(page.workspace.retention_tier)],
        **shown,
    )
