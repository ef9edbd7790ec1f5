"""The dashboard page on which signed-in users see and end their own sign-in sessions."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from config.api.errors import NotFound
from workspaces.models import User
from workspaces.sign_in import sessions as sign_in_sessions
from workspaces.workspace_page import api_error_page, caller_of_request

# (part of a User-Agent header, name). The first match counts, because most browsers name older ones in the header.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


@require_safe
@never_cache
@login_required
def list_sessions(request: HttpRequest) -> HttpResponse:
    """Dashboard page: list the signed-in user's sign-in sessions, most recently used first."""
    here = request.session.session_key
    shown = [
        {"session": row, "browser": describe_user_agent(row.user_agent), "this": row.session_id == here}
        for row in sign_in_sessions.valid_sessions_of_user(cast(User, request.user))
    ]
    return render(request, "workspaces/sessions.html", {"sessions": shown})


@require_POST
@login_required
def end_session(request: HttpRequest, user_session_id: int) -> HttpResponse:
    """Dashboard page: end one of the signed-in user's sign-in sessions."""
    here = request.session.session_key or ""
    try:
        sign_in_sessions.end_session(caller=caller_of_request(request), user_session_id=user_session_id)
    except NotFound as error:
        return api_error_page(request, error)
    if not request.session.exists(here):  # the user ended the current session
        logout(request)
    messages.success(request, _("That session has ended."))
    return redirect("sessions")


@require_POST
@login_required
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    """Dashboard page: end all sign-in sessions of the user except the current one.

    The current session continues with a new session key.
    """
    user = sign_in_sessions.end_other_sessions(
        caller=caller_of_request(request), session_key=request.session.session_key or ""
    )
    update_session_auth_hash(request, user)
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("sessions")


def describe_user_agent(user_agent: str) -> str:
    """Return the browser and operating system in a User-Agent header, such as "Firefox on Windows", for the sessions page."""
    browser = next((words for part, words in _BROWSERS if part in user_agent), "")
    system = next((words for part, words in _SYSTEMS if part in user_agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or _("Unknown browser")
