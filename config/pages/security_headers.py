"""Headers that tell browsers what a page must not do. Sources: Content Security Policy Level 3, Permissions Policy (W3C)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

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
