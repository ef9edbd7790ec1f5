"""Where the link of an invitation leads."""

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
from workspaces.frame import caller_of, error_page


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """What the person is invited to, and their choice; whoever it is not for sees why not."""
    caller = caller_of(request)
    try:
        if request.method == "POST":
            workspace = services.accept_invitation(caller=caller, token=token)
            messages.success(request, f"You are a member of {workspace.name} now.")
            return redirect("home", workspace_id=workspace.id)
        found = services.look_at_invitation(caller=caller, token=token)
    except ApiError as error:
        if request.method == "POST":
            record_refusal(caller=caller, operation="members.accept_invitation", error=error, dry_run=False)
        return error_page(request, error)
    return render(request, "workspaces/invitation.html", {"invitation": found})
