"""The dashboard pages of API keys: list, create and revoke."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from agents import selectors, services
from agents.dashboard.forms import WorkspaceApiKeyForm
from agents.models import ApiKey
from config.api.caller import require_access, require_recent_sign_in
from config.api.errors import ApiError, missing_or_foreign_id_error
from workspaces.workspace_page import (
    WorkspacePage,
    add_api_error_to_form,
    record_refused_write,
    run_once_per_submission,
    workspace_page,
)

PER_PAGE = 50
CREATE_OPERATION = "api_keys.create"


@workspace_page()
def api_key_list(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the API keys of the workspace and its agents, newest first.

    Only users who may create keys see it.
    """
    if not page.may_manage:
        return page.render("agents/keys.html")
    found = selectors.list_api_keys(
        caller=page.caller, workspace_id=page.workspace.id, limit=PER_PAGE, cursor=page.request.GET.get("cursor")
    )
    return page.render("agents/keys.html", api_keys=found.rows, next_cursor=found.next_cursor, now=timezone.now())


@workspace_page("GET", "POST", operation=CREATE_OPERATION)
def create_api_key(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show the form of a new API key and create the key on POST. Only that response shows the key's token."""
    require_access(page.caller, page.workspace.id, "api_keys.write", write=False)
    require_recent_sign_in(page.caller)
    form = WorkspaceApiKeyForm(page.request.POST or None, zone=page.zone)
    if page.request.method != "POST":
        return page.render("agents/key_new.html", form=form)
    if not form.is_valid():
        return page.render("agents/key_new.html", form=form, status=422)
    issued: list[services.IssuedKey] = []

    def create() -> ApiKey:
        issued.append(
            services.create_workspace_api_key(caller=page.caller, workspace_id=page.workspace.id, **form.cleaned_data)
        )
        return issued[0].api_key

    try:
        _, repeated = run_once_per_submission(page, CREATE_OPERATION, create)
    except ApiError as error:
        record_refused_write(page, CREATE_OPERATION, error)
        add_api_error_to_form(form, error)
        return page.render("agents/key_new.html", form=form, status=error.status)
    if repeated:
        return page.success_redirect(
            gettext("This key was already created and shown. If nobody saved it, revoke it."), "api-keys"
        )
    [issued_key] = issued
    return page.render("agents/key_made.html", api_key=issued_key.api_key, token=issued_key.token, base_url=settings.BASE_URL)


@workspace_page("POST", operation="api_keys.revoke")
def revoke_api_key(page: WorkspacePage, api_key_id: str) -> HttpResponse:
    """Dashboard page: revoke an API key, so that the key stops working at once."""
    key = selectors.get_manageable_api_key(caller=page.caller, api_key_id=api_key_id)
    if key.workspace_id != page.workspace.id:
        raise missing_or_foreign_id_error(None, "API key")
    services.revoke_api_key(caller=page.caller, api_key_id=key.id)
    return page.success_redirect_back(gettext("The key %(name)s is revoked. It no longer works.") % {"name": key.name})
