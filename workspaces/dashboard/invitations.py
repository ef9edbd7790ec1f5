"""The dashboard page that an invitation link opens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from auditlog.services import record_refusal
from config.api.errors import ApiError
from workspaces import services
from workspaces.workspace_page import caller_of, error_page


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Dashboard page: show the invitation and accept it on POST; anyone but the invited person sees an error page."""
    caller = caller_of(request)
    try:
        if request.method == "POST":
            workspace = services.accept_invitation(caller=caller, token=token)
            messages.success(request, f"You are now a member of {workspace.name}.")
            return redirect("home", workspace_id=workspace.id)
        shown = services.get_open_invitation(caller=caller, token=token)
    except ApiError as error:
        if request.method == "POST":
            record_refusal(caller=caller, operation="members.accept_invitation", error=error, dry_run=False)
        return error_page(request, error)
    return render(request, "workspaces/invitation.html", {"invitation": shown})
