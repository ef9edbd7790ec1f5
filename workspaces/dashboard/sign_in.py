"""The dashboard pages for signing in and out at the identity provider; in development also for signing in by a link."""

from __future__ import annotations

import logging
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.tokens import default_token_generator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from social_core.exceptions import AuthCanceled, AuthInputError, AuthProviderError, AuthSessionError
from social_core.exceptions import SocialAuthBaseException as SignInError
from social_django.strategy import DjangoStrategy
from social_django.utils import load_strategy

from config.api import rate_limit
from config.api.caller import is_recent_sign_in
from config.api.client_address import client_address_for_rate_limits
from config.api.errors import ApiError, Forbidden, RateLimited
from config.api.request_limits import limit_outbound_threads_and_seconds
from config.pages.admin_actions import signed_in_operator_caller
from workspaces import services
from workspaces.models import User
from workspaces.sign_in import saved_form
from workspaces.sign_in.backend import OpenIdBackend
from workspaces.sign_in.oidc_claims import UNKNOWN_AUTH_TIME, InvalidSubject, identity_from_claims, is_operator_by_claims
from workspaces.sign_in.sessions import (
    SignInMethod,
    authenticated_at,
    set_authenticated_at,
    sign_in_method,
    sign_in_user,
    sign_out_everywhere,
)
from workspaces.workspace_page import api_error_page, caller_of_request

logger = logging.getLogger(__name__)
NEXT_PAGE = "next"  # parameter name in query, form and session: the page to open after sign-in
SIGN_IN_AGAIN = "signing_in_again"  # session key: a signed-in user signs in again
# Label of the button that submits a saved form, by operation.
SAVED_FORM_BUTTON_LABELS = {
    "api_keys.create": _("Create the API key"),
    "api_keys.revoke": _("Revoke the API key"),
    "agents.create": _("Create the agent"),
    "agents.rotate_key": _("Issue a new key for the agent"),
    "agents.revoke": _("Revoke the agent"),
    "members.invite": _("Send the invitation"),
    "members.change_role": _("Change the role"),
    "members.remove": _("Remove the member"),
    "workspaces.hand_over": _("Hand the workspace over"),
    "workspaces.delete": _("Delete the workspace"),
}
INVALID_ANSWER_MESSAGE = _("The identity provider's answer is not valid, so you are not signed in.")


@require_safe
@never_cache
def show_sign_in_page(request: HttpRequest) -> HttpResponse:
    """The sign-in page of the dashboard: show the available ways to sign in."""
    return render_sign_in_page(request, next_page=safe_next_path_or_empty(request, request.GET.get(NEXT_PAGE)))


@require_POST
@never_cache
def begin_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect from the sign-in page to the identity provider.

    The OAuth `state`, nonce and PKCE verifier are stored in the session.
    """
    return _begin(request, again=False)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def sign_in_again(request: HttpRequest) -> HttpResponse:
    """Dashboard page: explain why the user must sign in again, and start a new sign-in with the same method as before."""
    next_page = safe_next_path_or_empty(request, request.POST.get(NEXT_PAGE) or request.GET.get(NEXT_PAGE)) or reverse(
        "dashboard"
    )
    if is_recent_sign_in(authenticated_at(request)):
        return HttpResponseRedirect(next_page)
    if request.method != "POST":
        shown = {"next_page": next_page, "minutes": settings.REAUTHENTICATE_MINUTES, "by": sign_in_method(request)}
        return render(request, "workspaces/sign_in_again.html", shown)
    if sign_in_method(request) in (SignInMethod.PASSWORD, SignInMethod.PASSWORD_AND_CODE):
        return redirect(reverse("admin:login", query={"again": "1", NEXT_PAGE: next_page}))
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        return _begin(request, again=True)
    set_authenticated_at(request, timezone.now())  # in development no provider can confirm the new sign-in
    return HttpResponseRedirect(next_page)


@require_safe
@never_cache
@login_required
def show_form_saved_before_sign_in(request: HttpRequest) -> HttpResponse:
    """Dashboard page after signing in again: show the form that was saved before the sign-in, to submit it now."""
    form = saved_form.load_saved_form(request)
    if form is None:
        return redirect("dashboard")
    if not is_recent_sign_in(authenticated_at(request)):
        return redirect(reverse("sign-in-again", query={NEXT_PAGE: request.path}))
    shown = {
        "form": form,
        "came_from_field": saved_form.ORIGIN_FIELD,
        "does": SAVED_FORM_BUTTON_LABELS.get(form.operation, gettext("Send it")),
    }
    return render(request, "workspaces/held_form.html", shown)


@require_GET
@never_cache
def sign_in_callback(request: HttpRequest) -> HttpResponse:
    """Dashboard page to which the provider sends the user back: complete the sign-in, with a new session key."""
    backend = _backend(request)
    again = request.session.pop(SIGN_IN_AGAIN, False)
    try:
        with limit_outbound_threads_and_seconds(client_address_for_rate_limits(request), operator_chosen=True):
            person = cast(User, backend.complete(user=None))
    except SignInError as error:
        return _sign_in_failed(request, error)
    except InvalidSubject:
        return render_sign_in_page(request, problem=str(INVALID_ANSWER_MESSAGE), status=502)
    except ApiError as error:
        return api_error_page(request, error)
    if again and (problem := _confirmation_error(request, person, backend)):
        return api_error_page(request, problem)
    next_page = safe_next_path_or_empty(request, request.session.pop(NEXT_PAGE, None))
    sign_in_user(request, person, by=SignInMethod.PROVIDER, authenticated_at=backend.authenticated_at)
    return HttpResponseRedirect(next_page or reverse("dashboard"))


def create_or_update_user(backend: OpenIdBackend, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Step of the dashboard's sign-in: create or update the user whom the provider's ID token names, and record the sign-in.

    The social-auth library calls this at each sign-in. Raises InvalidSubject, Forbidden (a closed account).
    """
    claims = backend.id_token or {}
    sources = (claims, backend.userinfo)
    request = cast(DjangoStrategy, backend.strategy).request
    person = services.upsert_and_audit_user_at_sign_in(
        identity=identity_from_claims(backend.id_token_issuer(), *sources),
        staff=is_operator_by_claims(*sources),
        ip=request.META.get("REMOTE_ADDR") or None if request else None,
    )
    return {"user": person}


@require_safe
@never_cache
def sign_in_by_development_link(request: HttpRequest, user_id: str, token: str) -> HttpResponse:
    """Dashboard page: sign in by a one-time link from demo.json, in development without an identity provider only."""
    if settings.PRODUCTION or settings.OIDC_ISSUER:
        raise Http404
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not default_token_generator.check_token(user, token):
        return render_sign_in_page(request, problem=gettext("This link was already used or is no longer valid."), status=403)
    sign_in_user(request, user, by=SignInMethod.LINK, authenticated_at=timezone.now())
    return redirect("dashboard")


@require_POST
def sign_out_of_all_browsers(request: HttpRequest) -> HttpResponse:
    """Dashboard page for signing out: end all of the user's sessions, in this browser and in all others."""
    if request.user.is_authenticated and request.user.is_staff:
        sign_out_everywhere(caller=signed_in_operator_caller(request), operation="operators.sign_out")
    elif request.user.is_authenticated:
        sign_out_everywhere(caller=caller_of_request(request))
    logout(request)
    return redirect("sign-in")


def _begin(request: HttpRequest, *, again: bool) -> HttpResponse:
    verdict = rate_limit.count_request_unless_rate_limited(
        rate_limit.Bucket(f"sign-in:{client_address_for_rate_limits(request)}", settings.RATE_LIMIT_PER_MINUTE)
    )
    if not verdict.allowed:
        return api_error_page(request, RateLimited())
    backend = _backend(request)
    request.session[NEXT_PAGE] = safe_next_path_or_empty(request, request.POST.get(NEXT_PAGE))
    request.session[SIGN_IN_AGAIN] = again
    try:
        with limit_outbound_threads_and_seconds(client_address_for_rate_limits(request), operator_chosen=True):
            return backend.start_reauthentication() if again else backend.start()
    except SignInError as error:
        return _sign_in_failed(request, error)
    except ApiError as error:
        return api_error_page(request, error)


def _confirmation_error(request: HttpRequest, person: User, backend: OpenIdBackend) -> ApiError | None:
    """Return the error if another user signed in, or the provider did not confirm the new sign-in; None if neither."""
    if person.pk != request.user.pk:
        return Forbidden(
            gettext("You signed in as another user, so nothing was changed."),
            suggested_action=gettext("Go back, and sign in as the user of this session."),
        )
    if not is_recent_sign_in(backend.authenticated_at or UNKNOWN_AUTH_TIME):
        return Forbidden(
            gettext(
                "The identity provider did not confirm that you have just signed in (auth_time), so nothing was changed."
            ),
            suggested_action=gettext("Sign out at the identity provider and try again, or ask the operator of this service."),
        )
    return None


def render_sign_in_page(request: HttpRequest, *, next_page: str = "", problem: str = "", status: int = 200) -> HttpResponse:
    """Render the sign-in page of the dashboard, with the reason why a sign-in failed if `problem` is given."""
    shown = {
        "provider": settings.OIDC_ISSUER if settings.OIDC_CLIENT_ID else "",
        "development": not (settings.PRODUCTION or settings.OIDC_ISSUER),
        "by_email": services.is_sign_in_by_email_offered(),
        "data_dir": settings.DATA_DIR,
        "next_page": next_page,
        "problem": problem,
    }
    return render(request, "workspaces/sign_in.html", shown, status=status)


def _backend(request: HttpRequest) -> OpenIdBackend:
    """Return the OpenID Connect backend for the request's sign-in. Raises Http404 if no identity provider is configured.

    It is a backend of the social-auth library.
    """
    if not (settings.OIDC_ISSUER and settings.OIDC_CLIENT_ID):
        raise Http404
    return OpenIdBackend(load_strategy(request), f"{settings.BASE_URL}{reverse('sign-in-callback')}")


def _sign_in_failed(request: HttpRequest, error: SignInError) -> HttpResponse:
    """Return the sign-in page with the reason why the sign-in failed. No personal data is logged."""
    logger.warning("A sign-in failed: %s at %s.", error.code, error.stage)
    next_page = safe_next_path_or_empty(request, request.session.get(NEXT_PAGE))
    for kinds, problem, status in (
        (AuthCanceled, gettext("The sign-in was cancelled at the identity provider."), 403),
        ((AuthInputError, AuthSessionError), gettext("This sign-in took too long, or was started in another browser."), 400),
        (AuthProviderError, gettext("The identity provider does not answer. Try again in a moment."), 503),
    ):
        if isinstance(error, kinds):
            return render_sign_in_page(request, next_page=next_page, problem=problem, status=status)
    return render_sign_in_page(
        request, next_page=next_page, problem=gettext("The identity provider's answer is not valid."), status=502
    )


def safe_next_path_or_empty(request: HttpRequest, address: str | None) -> str:
    """Return the address to open after the sign-in if it is a path of this service, which begins with "/", else ""."""
    if not address or not address.startswith("/"):
        return ""
    own = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if own else ""
