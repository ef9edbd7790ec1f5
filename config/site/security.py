"""What every answer tells browsers they must not do, whose address a request comes from, and tokens over plain http.

Sources: Content Security Policy Level 3, Permissions Policy (W3C); RFC 7239, section 5.2, on reading X-Forwarded-For.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config.api.errors import Forbidden
from config.api.handler import respond

Handler = Callable[[HttpRequest], HttpResponse]

# Pages with forms whose answer sends the browser to an identity provider, a platform or the payment processor. Browsers
# hold form-action against each redirect that follows a form, and where those lead cannot be listed (Mastodon, sign-in
# by way of a company's own pages).
FORMS_LEAD_OUT = re.compile(r"/dashboard/(sign-in|connect|workspaces/[^/]+/(accounts|usage|billing))(/|$)")
CLOSED = "default-src 'none'; frame-ancestors 'none'"  # for what is no page
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "camera",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "payment",
        "usb",
    )
)


class SecurityHeadersMiddleware:
    """Puts the headers on every answer; a view's own policy stands."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        policy = page_policy(bool(FORMS_LEAD_OUT.match(request.path)), settings.OUTBOUND_ALLOW_LOOPBACK)
        response.headers.setdefault("Content-Security-Policy", policy if is_page else CLOSED)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response


class ClientAddressMiddleware:
    """REMOTE_ADDR becomes the address that spoke to the outermost of our own proxies (FORWARDED_ALLOW_IPS).

    X-Forwarded-For is read from its end, where our proxies write; what stands before their entries is anybody's claim.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
        while hops and _is_ours(request.META.get("REMOTE_ADDR", "")) and (address := _plain(hops.pop())):
            request.META["REMOTE_ADDR"] = address
            if "*" in settings.TRUSTED_PROXIES:  # whoever connects is a proxy; further away nobody is known to be one
                break
        return self.get_response(request)


class PlainHttpTokenMiddleware:
    """In production, refuses what sends an Authorization header over plain http, in place of a redirect to https.

    A redirect would hide the mistake: the client goes on sending its token in the clear, and never learns of it.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.PRODUCTION and "HTTP_AUTHORIZATION" in request.META and not request.is_secure():
            return respond(
                Forbidden(
                    "This request came over plain http, so its token was sent in the clear.",
                    suggested_action="Use https, and replace the token: others may have read it.",
                )
            )
        return self.get_response(request)


@lru_cache(maxsize=4)
def page_policy(forms_lead_out: bool, loopback: bool) -> str:
    """The Content-Security-Policy of a page: nothing inline, nothing from elsewhere but uploads where they are stored."""
    media = " ".join(["'self'", "data:", "blob:", *storage_origins(settings.STORAGES["default"].get("OPTIONS", {}))])
    targets = ["'self'"]
    if forms_lead_out:
        targets += ["https:", *(["http://127.0.0.1:*", "http://localhost:*"] if loopback else [])]
    return "; ".join(
        [
            "default-src 'self'",
            f"img-src {media}",
            f"media-src {media}",
            f"form-action {' '.join(targets)}",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "object-src 'none'",
        ]
    )


def storage_origins(options: dict[str, str]) -> list[str]:
    """Where the signed addresses of stored files lead: a bucket's hosts, or none when files are served from here."""
    if "bucket_name" not in options:
        return []
    if "endpoint_url" not in options:
        return ["https://*.amazonaws.com"]
    endpoint = urlsplit(options["endpoint_url"])
    return [f"{endpoint.scheme}://{endpoint.netloc}", f"{endpoint.scheme}://{options['bucket_name']}.{endpoint.netloc}"]


def _plain(hop: str) -> str:
    """The address of an entry, which may carry a port and brackets; "" for anything else."""
    for candidate in (hop, hop.rpartition(":")[0].strip("[]"), hop.strip("[]")):
        try:
            return str(ip_address(candidate))
        except ValueError:
            continue
    return ""


def _is_ours(address: str) -> bool:
    """Whether a proxy of ours has this address; a Unix socket, which has none, is one."""
    if not address or "*" in settings.TRUSTED_PROXIES:
        return True
    try:
        return any(ip_address(address) in ip_network(proxy, strict=False) for proxy in settings.TRUSTED_PROXIES)
    except ValueError:
        return False
