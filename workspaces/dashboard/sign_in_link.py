"""The dashboard pages for signing in by a link in an e-mail: requesting the link, and opening it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from config.api import rate_limit
from config.api.client_address import client_address_for_rate_limits
from config.api.errors import RateLimited
from workspaces import services
from workspaces.dashboard.sign_in import NEXT_PAGE, render_sign_in_page, safe_next_path_or_empty
from workspaces.sign_in.oidc_claims import normalized_email_or_empty
from workspaces.sign_in.sessions import SignInMethod, sign_in_user
from workspaces.workspace_page import api_error_page

HOUR = 3600.0
LINKS_PER_ADDRESS = 5  # e-mails to one address in an hour
LINKS_PER_CLIENT = 30  # requests from one IPv4 address or IPv6 /64 in an hour; the people of an office may share one
USED_LINK_MESSAGE = _("This link was already used, or is no longer valid. Request another one.")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def request_sign_in_link(request: HttpRequest) -> HttpResponse:
    """Dashboard page: queue the e-mail with a sign-in link for the entered address, then confirm the request.

    The answer is the same whether or not anybody has the address.
    """
    _require_offered()
    if request.method != "POST":
        return render(request, "workspaces/sign_in_link_sent.html", {"minutes": services.LINK_LIFETIME.seconds // 60})
    next_page = safe_next_path_or_empty(request, request.POST.get(NEXT_PAGE))
    address = normalized_email_or_empty(request.POST.get("email"))
    if not address:
        return render_sign_in_page(
            request, next_page=next_page, problem=gettext("This is not a valid e-mail address."), status=422
        )
    verdict = rate_limit.count_request_unless_rate_limited(
        rate_limit.Bucket(f"sign-in-links-to:{address}", LINKS_PER_ADDRESS, HOUR),
        rate_limit.Bucket(f"sign-in-links-from:{client_address_for_rate_limits(request)}", LINKS_PER_CLIENT, HOUR),
    )
    if not verdict.allowed:
        return api_error_page(request, RateLimited(headers=verdict.headers()))
    services.queue_sign_in_mail_to_address(to=address, next_page=next_page)
    return redirect("sign-in-link-request")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def show_or_use_sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Dashboard page of a sign-in link: show a button that signs in by POST, so that link checkers do not use it up."""
    _require_offered()
    next_page = safe_next_path_or_empty(request, request.GET.get(NEXT_PAGE))
    if request.method == "POST":
        person = services.use_up_sign_in_link_or_none(token=token, ip=request.META.get("REMOTE_ADDR") or None)
        if person is not None:
            sign_in_user(request, person, by=SignInMethod.EMAIL, authenticated_at=timezone.now())
            return HttpResponseRedirect(next_page or reverse("dashboard"))
    link = services.find_open_sign_in_link(token=token)
    if link is None:
        response = render_sign_in_page(request, next_page=next_page, problem=str(USED_LINK_MESSAGE), status=410)
    else:
        response = render(request, "workspaces/sign_in_link.html", {"email": link.email})
    # No referrer contains the link's secret. With `no-referrer`, browsers would also send `Origin: null` with the form,
    # which the CSRF check refuses.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response


def _require_offered() -> None:
    if not services.is_sign_in_by_email_offered():
        raise Http404
