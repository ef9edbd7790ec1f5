"""Dashboard pages that connect an account with OAuth: the redirect to the platform, and the browser's return.

A grant is attached at once only in the browser session that began it. In any other session, an owner or admin of the
workspace sees who began the connection and which account it is, and confirms. For anybody else, the platform is not called.
"""

from __future__ import annotations

import re

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import selectors, services
from accounts.errors import OAuthStateInvalid
from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.platforms.registry import get_adapter
from auditlog.services import record_refusal
from config.api.caller import Caller
from config.api.errors import ApiError, Forbidden, NotFound
from config.pages.sentences import error_sentences
from workspaces.workspace_page import caller_of_request

BEGUN_ATTEMPTS_SESSION_KEY = "connections_begun_here"  # in the session: the ids of the latest attempts
MAX_ATTEMPTS_IN_SESSION = 10
_ERROR = re.compile(r"[a-zA-Z0-9_.-]{1,60}")


@require_POST
@login_required
def begin_oauth(request: HttpRequest) -> HttpResponse:
    """Dashboard action that begins an OAuth connection in this browser session, and redirects the browser to the platform.

    The HTML form sends `workspace_id`, `platform`, and the fields of the platform's oauth_input_schema.
    """
    # PostgreSQL text cannot contain NUL.
    given = {name: str(value).replace("\0", "") for name, value in request.POST.items()}
    given.pop("csrfmiddlewaretoken", None)
    workspace_id, platform_name = given.pop("workspace_id", ""), given.pop("platform", "")
    caller = caller_of_request(request)
    try:
        begun = services.connect_account_or_begin_oauth(
            caller=caller,
            workspace_id=workspace_id,
            platform_name=platform_name,
            method=ConnectedAccount.Method.OAUTH,
            credentials=given,
        )
    except ApiError as error:
        return _refused(request, caller, "accounts.connect", error)
    assert isinstance(begun, services.BegunConnectionAttempt)  # noqa: S101 - the OAuth method always returns BegunConnectionAttempt
    latest = [*request.session.get(BEGUN_ATTEMPTS_SESSION_KEY, []), begun.attempt_id]
    request.session[BEGUN_ATTEMPTS_SESSION_KEY] = latest[-MAX_ATTEMPTS_IN_SESSION:]
    return HttpResponseRedirect(begun.authorization_url)


@require_http_methods(["GET", "POST"])
@never_cache
def complete_oauth_or_choose_account(request: HttpRequest) -> HttpResponse:
    """Dashboard page to which a platform redirects the browser after OAuth, and on which a person chooses an account."""
    if "error" in request.GET:
        return _denied(request, request.GET["error"])
    return _complete(request, request.GET.get("state", ""), request.GET.get("code", ""))


@login_required
def _complete(request: HttpRequest, state: str, code: str) -> HttpResponse:
    caller = caller_of_request(request)
    try:
        if request.method == "POST":
            choice = request.POST.get("choice", "")
            attached = services.attach_chosen_account(caller=caller, state=state, code=code, choice=choice)
            return _attached(request, attached)
        returned = services.exchange_code_for_account_choices(caller=caller, state=state, code=code)
        if returned.attached_account:
            return _attached(request, returned.attached_account)
        accounts = [connection.identity for connection in returned.connections]
        if len(accounts) == 1 and _began_here(request, caller, returned.attempt):
            choice = accounts[0].external_id
            attached = services.attach_chosen_account(caller=caller, state=state, code=code, choice=choice)
            return _attached(request, attached)
    except ApiError as error:
        return _refused(request, caller, "accounts.complete_connection", error)
    shown = {
        "platform_label": get_adapter(returned.attempt.platform).label,
        "attempt": returned.attempt,
        "asked_by": selectors.describe_who_began_connection(returned.attempt),
        "began_here": _began_here(request, caller, returned.attempt),
        "accounts": accounts,
    }
    return render(request, "accounts/connect.html", shown)


def _began_here(request: HttpRequest, caller: Caller, attempt: ConnectionAttempt) -> bool:
    """Return whether this person, in this browser session of the dashboard, began the OAuth connection."""
    return attempt.was_begun_by(caller) and attempt.id in request.session.get(BEGUN_ATTEMPTS_SESSION_KEY, [])


def _attached(request: HttpRequest, account: ConnectedAccount) -> HttpResponse:
    shown = {"platform_label": get_adapter(account.platform).label, "account": account}
    return render(request, "accounts/connected.html", shown)


def _denied(request: HttpRequest, error: str) -> HttpResponse:
    """Show a dashboard page which says that the platform denied access by OAuth.

    It names the platform's error code if the code is well-formed. The other query parameters are not shown: anybody could
    have written them.
    """
    error_code = error if _ERROR.fullmatch(error) else ""
    return render(request, "accounts/not_connected.html", {"denied": True, "platform_error": error_code})


def _refused(request: HttpRequest, caller: Caller, operation: str, error: ApiError) -> HttpResponse:
    record_refusal(caller=caller, operation=operation, error=error, dry_run=False)
    shown = {
        "sentences": error_sentences(error, operation),
        "unknown": isinstance(error, OAuthStateInvalid),
        "not_theirs": error.code in (Forbidden.code, NotFound.code),
    }
    return render(request, "accounts/not_connected.html", shown, status=error.status)
