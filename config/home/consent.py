"""The pages on which a person lets an OAuth client act as a new agent: /oauth/authorize, and those of the device flow.

A client of /oauth/authorize gets the decision by a redirect, a client of the device flow at its next request.
"""

from __future__ import annotations

from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import AccessDeniedError

from agents.models import OAuthGrant
from agents.oauth import device_authorizations, server
from agents.oauth.grants import RequestedAccess, allow_client_to_act_as_agent
from agents.oauth.redirect_uris import RedirectUri, parse_redirect_uri_or_none
from agents.oauth.views import device_authorization_endpoint
from agents.selectors import active_agents_of_client
from auditlog.services import record_entry
from config.api import rate_limit
from config.api.caller import require_recent_sign_in
from config.api.errors import ApiError, NotFound, RateLimited, ReauthenticationRequired
from config.home.agent_form import account_choices
from config.home.consent_form import ConsentForm
from config.pages.security_headers import content_security_policy
from workspaces.models import Member, Workspace
from workspaces.selectors import undeleted_workspaces
from workspaces.workspace_page import (
    WorkspacePage,
    add_api_error_to_form,
    api_error_page,
    caller_of_request,
    record_refused_write,
    run_once_per_submission,
)

ALLOW_OPERATION = "oauth.allow"
ENTERED_CODES_PER_MINUTE = 10  # for each person, so that nobody can guess the codes of others


class ConsentDecisionResponder(Protocol):
    """Tells an OAuth client the decision on the consent page: `allow` also creates the agent, `deny` only answers."""

    def allow(self, page: WorkspacePage, choices: dict[str, Any]) -> HttpResponse: ...

    def deny(self, request: HttpRequest) -> HttpResponse: ...


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def show_or_decide_oauth_consent(request: HttpRequest) -> HttpResponse:
    """The consent page /oauth/authorize: what an OAuth client asks for, and the form to allow it."""
    parameters = [(name, str(value)) for name, values in request.GET.lists() for value in values]
    try:
        requested = server.read_authorization_request(parameters, asked_by=str(request.user.pk))
    except OAuth2Error as error:
        return _refused(request, error)
    except ApiError as error:
        return api_error_page(request, error)
    return _ask(request, requested, _RedirectDecisionHandler(requested))


def _refused(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    """Answer an invalid request for consent: by redirect to a program on the person's computer, else by a page.

    Anybody can register a client, so a redirect to a website follows only a person's click (RFC 9700, section 4.11.2).
    """
    fatal = isinstance(error, FatalClientError) or error.redirect_uri is None
    redirect = None if fatal else parse_redirect_uri_or_none(error.redirect_uri)
    back = server.error_redirect_url(error.redirect_uri, error, error.state) if redirect else ""
    if redirect and redirect.is_loopback:
        return HttpResponseRedirect(back)
    shown = {"reason": error.description or error.error, "back": back, "redirect": redirect}
    return render(request, "home/consent_refused.html", shown, status=400)


@csrf_exempt  # for programs, which begin the device flow by POST
def begin_device_flow_or_ask_for_code(request: HttpRequest) -> HttpResponse:
    """Begin the device flow for an OAuth client (POST), or show the page on which a person enters the client's code."""
    if request.method != "POST":
        return _enter_device_code(request)
    with translation.override(settings.LANGUAGE_CODE):  # programs get English answers
        return device_authorization_endpoint(request)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def show_or_decide_device_consent(request: HttpRequest) -> HttpResponse:
    """The consent page of the device flow: what the client with the entered code asks for, and the form to allow it."""
    bucket = rate_limit.Bucket(f"device-code:{request.user.pk}", ENTERED_CODES_PER_MINUTE)
    if not rate_limit.count_request_unless_rate_limited(bucket).allowed:
        return api_error_page(request, RateLimited())
    code = request.GET.get("user_code", "")
    found = device_authorizations.find_undecided_device_authorization_or_none(entered_code=code)
    if found is None:
        problem = _("This code is not valid, or it has expired. Check it, or let the program show a new one.")
        return render(request, "home/device_code.html", {"code": code, "problem": problem}, status=404)
    return _ask(request, device_authorizations.access_requested_by_device(found), _DeviceFlowDecisionHandler(code))


@require_safe
@never_cache
@login_required
def _enter_device_code(request: HttpRequest) -> HttpResponse:
    return render(request, "home/device_code.html", {"code": request.GET.get("user_code", "")})


class _RedirectDecisionHandler:
    """Tells an OAuth client what the person has decided on the consent page, by its redirect URI."""

    def __init__(self, requested: RequestedAccess) -> None:
        self._requested = requested

    def allow(self, page: WorkspacePage, choices: dict[str, Any]) -> HttpResponse:
        codes: list[str] = []

        def create() -> OAuthGrant:
            grant, code = allow_client_to_act_as_agent(
                caller=page.caller, workspace_id=page.workspace.id, requested=self._requested, **choices
            )
            codes.append(code or "")
            return grant

        _, repeated = run_once_per_submission(page, ALLOW_OPERATION, create)
        if repeated:  # the client has its code already
            return page.render("home/consent_done.html", allowed=True)
        return HttpResponseRedirect(server.success_redirect_url(self._requested, codes[0]))

    def deny(self, request: HttpRequest) -> HttpResponse:
        error = AccessDeniedError("The person has not allowed it.")
        record_entry(
            caller=caller_of_request(request),
            operation="oauth.deny",
            resource_type="oauth_client",
            resource_id=self._requested.client.id,
        )
        return HttpResponseRedirect(server.error_redirect_url(self._requested.redirect_uri, error, self._requested.state))


class _DeviceFlowDecisionHandler:
    """Stores the decision on the consent page for an OAuth client of the device flow, which asks for it later."""

    def __init__(self, entered_code: str) -> None:
        self._entered_code = entered_code

    def allow(self, page: WorkspacePage, choices: dict[str, Any]) -> HttpResponse:
        device_authorizations.allow_device_authorization(
            caller=page.caller, workspace_id=page.workspace.id, entered_code=self._entered_code, **choices
        )
        return page.render("home/consent_done.html", allowed=True)

    def deny(self, request: HttpRequest) -> HttpResponse:
        try:
            device_authorizations.deny_device_authorization(
                caller=caller_of_request(request), entered_code=self._entered_code
            )
        except NotFound as error:
            return api_error_page(request, error)
        return render(request, "home/consent_done.html", {"allowed": False})


def _ask(request: HttpRequest, requested: RequestedAccess, decision: ConsentDecisionResponder) -> HttpResponse:
    """Show the consent page, or carry out the decision that it sends. Only owners and admins of a workspace can allow."""
    if request.method == "POST" and request.POST.get("decision") != "allow":
        return decision.deny(request)
    workspaces = _workspaces_of(request)
    wanted = request.POST.get("workspace_id") or request.GET.get("workspace_id")
    workspace = next((each for each in workspaces if each.id == wanted), workspaces[0] if workspaces else None)
    if workspace is None:
        return render(request, "home/consent_refused.html", {"no_workspace": True}, status=403)
    page = WorkspacePage(request, caller_of_request(request), workspace)
    try:
        require_recent_sign_in(page.caller)
        return _consent_page(page, workspaces, requested, decision)
    except ReauthenticationRequired:
        return page.redirect(reverse("sign-in-again", query={"next": request.get_full_path()}))


def _workspaces_of(request: HttpRequest) -> list[Workspace]:
    """Return the active workspaces for which the signed-in user may give an OAuth client consent to act as an agent."""
    roles = (Member.Role.OWNER, Member.Role.ADMIN)
    own = undeleted_workspaces().filter(members__user=request.user.pk, members__role__in=roles)
    return list(own.filter(status="active").order_by("name", "pk"))


def _consent_page(
    page: WorkspacePage, workspaces: list[Workspace], requested: RequestedAccess, decision: ConsentDecisionResponder
) -> HttpResponse:
    request, client = page.request, requested.client
    redirect = parse_redirect_uri_or_none(requested.redirect_uri)
    name = client.name or client.verified_host or (redirect.host if redirect else _("A program"))
    with timezone.override(page.zone):
        # A code of the device flow may come from anybody, so it connects no agent that the person has already.
        agents = (
            active_agents_of_client(caller=page.caller, workspace_id=page.workspace.id, client=client) if redirect else []
        )
        accounts = account_choices(page)
        form = ConsentForm(request.POST or None, accounts=accounts, agents=agents, name=name, zone=page.zone)
        status = 200
        if request.method == "POST":
            status = 422
            if form.is_valid():
                try:
                    choices = {"owner_user_id": page.workspace.owner_user_id, **form.arguments_for_allowing_client}
                    return decision.allow(page, choices)
                except ReauthenticationRequired:
                    raise
                except ApiError as error:
                    record_refused_write(page, ALLOW_OPERATION, error)
                    add_api_error_to_form(form, error)
                    status = error.status
        shown = {"client": client, "name": name, "redirect": redirect, "requested": requested}
        shown |= {"workspaces": workspaces, "agents": agents}
        response = page.render("home/consent.html", form=form, status=status, **shown)
    response["Content-Security-Policy"] = content_security_policy(_form_targets(redirect))
    return response


def _form_targets(redirect: RedirectUri | None) -> tuple[str, ...]:
    """Return the addresses to which the consent form may redirect, for the Content-Security-Policy."""
    if redirect is None:
        return ()
    if not redirect.is_loopback:
        return ("https:",)  # the client may redirect further
    return ("http:",) if redirect.host == "[::1]" else (f"{redirect.scheme}://{redirect.host}:*",)
