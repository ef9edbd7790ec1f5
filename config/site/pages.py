"""The dashboard's front door: signing in on a machine without an identity provider, and the home page."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.tokens import default_token_generator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.models import ConnectedAccount
from posts import selectors
from workspaces.models import User, Workspace
from workspaces.selectors import live_workspaces

LATEST = 10


@require_safe
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """How to sign in here."""
    return render(request, "dashboard/sign_in.html", {"data_dir": settings.DATA_DIR})


@require_safe
@never_cache
def sign_in_once(request: HttpRequest, user_id: str, token: str) -> HttpResponse:
    """The link of demo.json: good once, in development without an identity provider only."""
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        raise Http404
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not default_token_generator.check_token(user, token):
        return render(request, "dashboard/sign_in.html", {"data_dir": settings.DATA_DIR, "used": True}, status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("dashboard")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The workspaces of the signed-in person, with their accounts and latest posts."""
    rows = [_section(workspace) for workspace in live_workspaces().filter(members__user=request.user.pk)]
    return render(request, "dashboard/home.html", {"sections": rows})


def _section(workspace: Workspace) -> dict[str, object]:
    latest = selectors.groups_with_targets().filter(workspace=workspace).order_by("-pk")[:LATEST]
    accounts = ConnectedAccount.objects.filter(workspace=workspace).exclude(status="disconnected").order_by("platform")
    return {"workspace": workspace, "posts": latest, "accounts": accounts}
