"""The dashboard's front door: signing in at the identity provider, or on a machine without one by a link; signing out."""

from __future__ import annotations

import logging
from typing import cast

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.tokens import default_token_generator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe
from social_core.exceptions import AuthCanceled, AuthInputError, AuthProviderError, AuthSessionError
from social_core.exceptions import SocialAuthBaseException as SignInError
from social_django.utils import load_strategy

from config.api import rate_limit
from config.api.budget import outside
from config.api.admin_actions import operator_of
from config.api.errors import ApiError, RateLimited
from workspaces.frame import caller_of, error_page
from workspaces.models import User
from workspaces.services import sign_out_everywhere
from workspaces.sign_in.backend import OpenIdBackend
from workspaces.sign_in.claims import NobodyNamed
from workspaces.sign_in.sessions import SignedInBy, begin_session

logger = logging.getLogger(__name__)
NEXT = "next"  # in the query, the form and the session: where the person was going
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
    verdict = rate_limit.take(f"sign-in:{_address_of(request)}", None)
    if not verdict.allowed:
        return error_page(request, RateLimited())
    backend = _backend(request)
    request.session[NEXT] = _own_page(request, request.POST.get(NEXT))
    try:
        with outside(_address_of(request)):
            return backend.start()
    except SignInError as error:
        return _failed(request, error)
    except ApiError as error:
        return error_page(request, error)


@require_GET
@never_cache
def sign_in_callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends the browser back to; the session gets a new key, as whoever it was before."""
    backend = _backend(request)
    try:
        with outside(_address_of(request)):
            person = cast(User, backend.complete(user=None))
    except SignInError as error:
        return _failed(request, error)
    except NobodyNamed:
        return _sign_in_page(request, problem=NOT_RIGHT, status=502)
    except ApiError as error:
        return error_page(request, error)
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
    return render(request, "dashboard/sign_in.html", shown, status=status)


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
