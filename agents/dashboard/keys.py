"""API keys: the list, a new one, and its end."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone

from agents import selectors, services
from agents.dashboard.forms import ApiKeyForm
from agents.models import ApiKey
from config.api.caller import absent, require, require_recent_sign_in
from config.api.errors import ApiError
from workspaces.frame import WorkspacePage, once, put_errors, refuse, workspace_page

PER_PAGE = 50
CREATE = "api_keys.create"


@workspace_page()
def api_keys(page: WorkspacePage) -> HttpResponse:
    """The keys of the workspace and its agents, the newest first; who may not make keys is not shown them either."""
    if not page.may_write:
        return page.render("agents/keys.html")
    found = services.list_api_keys(
        caller=page.caller,
        workspace_id=page.workspace.id,
        limit=PER_PAGE,
        cursor=page.request.GET.get("cursor"),
    )
    return page.render("agents/keys.html", api_keys=found.rows, next_cursor=found.next_cursor, now=timezone.now())


@workspace_page("GET", "POST", operation=CREATE)
def new_api_key(page: WorkspacePage) -> HttpResponse:
    """The form for a new key; its answer shows the key, which no page shows again."""
    require(page.caller, page.workspace.id, "api_keys.write", write=False)
    require_recent_sign_in(page.caller)
    form = ApiKeyForm(page.request.POST or None, zone=page.zone)
    if page.request.method != "POST":
        return page.render("agents/key_new.html", form=form)
    if not form.is_valid():
        return page.render("agents/key_new.html", form=form, status=422)
    issued: list[services.KeyIssued] = []

    def create() -> ApiKey:
        issued.append(services.create_api_key(caller=page.caller, workspace_id=page.workspace.id, **form.cleaned_data))
        return issued[0].api_key

    try:
        _, repeated = once(page, CREATE, create)
    except ApiError as error:
        refuse(page, CREATE, error)
        put_errors(form, error)
        return page.render("agents/key_new.html", form=form, status=error.status)
    if repeated:
        return page.done("That key was made already, and was shown then. If nobody kept it, revoke it.", "api-keys")
    [made] = issued
    return page.render("agents/key_made.html", api_key=made.api_key, token=made.token, base_url=settings.BASE_URL)


@workspace_page("POST", operation="api_keys.revoke")
def revoke(page: WorkspacePage, api_key_id: str) -> HttpResponse:
    """Stop a key at once."""
    key = selectors.api_key_of(caller=page.caller, api_key_id=api_key_id)
    if key.workspace_id != page.workspace.id:
        raise absent(None, "API key")
    services.revoke_api_key(caller=page.caller, api_key_id=key.id)
    return page.back(f"The key {key.name} is revoked: it opens nothing any more.")
