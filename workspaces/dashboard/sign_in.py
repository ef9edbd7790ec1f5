"""The dashboard's front door: signing in at the identity provider, or on a machine without one by a link; signing out."""

from __future__ import annotations

import logging
from typing import cast

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.tokens import default_token_generator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from social_core.exceptions import AuthCanceled, AuthInputError, AuthProviderError, AuthSessionError
from social_core.exceptions import SocialAuthBaseException as SignInError
from social_django.utils import load_strategy

from config.api import rate_limit
from config.api.admin_actions import operator_of
from config.api.budget import outside
from config.api.caller import is_recent_sign_in
from config.api.errors import ApiError, Forbidden, RateLimited
from workspaces.frame import caller_of, error_page
from workspaces.models import User
from workspaces.services import sign_out_everywhere
from workspaces.sign_in import held_form
from workspaces.sign_in.backend import OpenIdBackend
from workspaces.sign_in.claims import NEVER, NobodyNamed
from workspaces.sign_in.sessions import (
    SignedInBy,
    authenticated_at,
    begin_session,
    set_authenticated,
    signed_in_by,
)

logger = logging.getLogger(__name__)
NEXT = "next"  # in the query, the form and the session: where the person was going
AGAIN = "signing_in_again"  # in the session: the person is signed in, and has been sent to the provider once more
# What the button says that sends a held form, by its operation.
DOES = {
    "api_keys.create": "Make the API key",
    "api_keys.revoke": "Revoke the API key",
    "agents.create": "Make the agent",
    "agents.rotate_key": "Make a new key for the agent",
    "agents.revoke": "Revoke the agent",
    "members.invite": "Send the invitation",
    "members.change_role": "Change the role",
    "members.remove": "Remove the member",
    "workspaces.hand_over": "Hand the workspace over",
    "workspaces.delete": "Delete the workspace",
}
NOT_RIGHT = "The answer of the identity provider is not right, so nobody is signed in."


@require_safe
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """How to sign in here."""
    return _sign_in_page(request, next_page=_own_page(request, request.GET.get(NEXT)))


@require_POST
@never_cache
def begin_sign_in(request: HttpRequest) -> HttpResponse:
    """Send the browser to the identity provider, with a state, a nonce and a PKCE challenge that its session keeps."""
    return _begin(request, again=False)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def sign_in_again(request: HttpRequest) -> HttpResponse:
    """Why a recent sign-in is needed; and the way to it, which differs by how the session began."""
    next_page = _own_page(request, request.POST.get(NEXT) or request.GET.get(NEXT)) or reverse("dashboard")
    if is_recent_sign_in(authenticated_at(request)):
        return redirect(next_page)
    if request.method != "POST":
        shown = {"next_page": next_page, "minutes": settings.REAUTHENTICATE_MINUTES, "by": signed_in_by(request)}
        return render(request, "workspaces/sign_in_again.html", shown)
    if signed_in_by(request) in (SignedInBy.PASSWORD, SignedInBy.PASSWORD_AND_CODE):
        return redirect(reverse("admin:login", query={"again": "1", NEXT: next_page}))
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        return _begin(request, again=True)
    set_authenticated(request, timezone.now())  # development has nobody to ask
    return redirect(next_page)


@require_safe
@never_cache
@login_required
def held_form_page(request: HttpRequest) -> HttpResponse:
    """The form that was sent before the person signed in again, for them to send it now."""
    form = held_form.held(request)
    if form is None:
        return redirect("dashboard")
    if not is_recent_sign_in(authenticated_at(request)):
        return redirect(reverse("sign-in-again", query={NEXT: request.path}))
    shown = {"form": form, "came_from_field": held_form.CAME_FROM, "does": DOES.get(form.operation, "Send it")}
    return render(request, "workspaces/held_form.html", shown)


@require_GET
@never_cache
def sign_in_callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends the browser back to; the session gets a new key, as whoever it was before."""
    backend = _backend(request)
    again = request.session.pop(AGAIN, False)
    try:
        with outside(_address_of(request), operator_chosen=True):
            person = cast(User, backend.complete(user=None))
    except SignInError as error:
        return _failed(request, error)
    except NobodyNamed:
        return _sign_in_page(request, problem=NOT_RIGHT, status=502)
    except ApiError as error:
        return error_page(request, error)
    if again and (problem := _not_confirmed(request, person, backend)):
        return error_page(request, problem)
    next_page = _own_page(request, request.session.pop(NEXT, None))
    begin_session(request, person, by=SignedInBy.PROVIDER, authenticated_at=backend.authenticated_at)
    return redirect(next_page or "dashboard")


@require_safe
@never_cache
def sign_in_once(request: HttpRequest, user_id: str, token: str) -> HttpResponse:
    """The link of demo.json: good once, in development without an identity provider only."""
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        raise Http404
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not default_token_generator.check_token(user, token):
        return _sign_in_page(request, problem="This link was used already, or it is not valid any more.", status=403)
    begin_session(request, user, by=SignedInBy.LINK, authenticated_at=timezone.now())
    return redirect("dashboard")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the person's sessions, in this browser and all others."""
    if request.user.is_authenticated:
        _sign_out_everywhere(request)
    logout(request)
    return redirect("sign-in")


def _begin(request: HttpRequest, *, again: bool) -> HttpResponse:
    verdict = rate_limit.take(rate_limit.Bucket(f"sign-in:{_address_of(request)}", settings.RATE_LIMIT_PER_MINUTE))
    if not verdict.allowed:
        return error_page(request, RateLimited())
    backend = _backend(request)
    request.session[NEXT] = _own_page(request, request.POST.get(NEXT))
    request.session[AGAIN] = again
    try:
        with outside(_address_of(request), operator_chosen=True):
            return backend.start_again() if again else backend.start()
    except SignInError as error:
        return _failed(request, error)
    except ApiError as error:
        return error_page(request, error)


def _not_confirmed(request: HttpRequest, person: User, backend: OpenIdBackend) -> ApiError | None:
    """What is wrong with an answer that should confirm that the signed-in person has just signed in again."""
    if person.pk != request.user.pk:
        return Forbidden(
            "You have signed in as somebody else, so nothing was changed.",
            suggested_action="Go back, and sign in as the person who is signed in here.",
        )
    if not is_recent_sign_in(backend.authenticated_at or NEVER):
        return Forbidden(
            "The identity provider did not confirm that you have just signed in (auth_time), so nothing was changed.",
            suggested_action="Sign out at the identity provider and try again, or tell the operator of this service.",
        )
    return None


def _sign_out_everywhere(request: HttpRequest) -> None:
    if cast(User, request.user).is_staff:
        sign_out_everywhere(caller=operator_of(request), operation="operators.sign_out")
    else:
        sign_out_everywhere(caller=caller_of(request))


def _sign_in_page(request: HttpRequest, *, next_page: str = "", problem: str = "", status: int = 200) -> HttpResponse:
    shown = {
        "provider": settings.OIDC_ISSUER if settings.OIDC_CLIENT_ID else "",
        "development": not (settings.PRODUCTION or settings.OIDC_ISSUER),
        "data_dir": settings.DATA_DIR,
        "next_page": next_page,
        "problem": problem,
    }
    return render(request, "workspaces/sign_in.html", shown, status=status)


def _backend(request: HttpRequest) -> OpenIdBackend:
    """social-auth for this request, which comes back to BASE_URL; no such page where no provider is set up."""
    if not (settings.OIDC_ISSUER and settings.OIDC_CLIENT_ID):
        raise Http404
    return OpenIdBackend(load_strategy(request), f"{settings.BASE_URL}{reverse('sign-in-callback')}")


def _address_of(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _failed(request: HttpRequest, error: SignInError) -> HttpResponse:
    """What went wrong, in a person's words; the log has social-auth's code and stage, and nothing of the person."""
    logger.warning("A sign-in failed: %s at %s.", error.code, error.stage)
    next_page = _own_page(request, request.session.get(NEXT))
    for kinds, problem, status in (
        (AuthCanceled, "The identity provider was told not to sign you in.", 403),
        ((AuthInputError, AuthSessionError), "This sign-in took too long, or began in another browser.", 400),
        (AuthProviderError, "The identity provider does not answer. Try again in a moment.", 503),
    ):
        if isinstance(error, kinds):
            return _sign_in_page(request, next_page=next_page, problem=problem, status=status)
    return _sign_in_page(
        request, next_page=next_page, problem="The identity provider's answer is not right.", status=502
    )


def _own_page(request: HttpRequest, address: str | None) -> str:
    """The address when it is a page of this service, else ""."""
    own = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address or "" if own else ""
