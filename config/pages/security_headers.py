"""The middleware for the security headers Content-Security-Policy (CSP Level 3) and Permissions-Policy (W3C)."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

# Pages with forms whose response redirects to an identity provider, a platform or the payment processor. Browsers apply
# form-action also to the redirects after a form, and their destinations cannot be listed (Mastodon servers, a company's
# own sign-in pages).
FORMS_REDIRECTING_OFFSITE = re.compile(r"/dashboard/(sign-in|connect|workspaces/[^/]+/(accounts|usage|billing))(/|$)")
NON_HTML_POLICY = "default-src 'none'; frame-ancestors 'none'"  # for responses that are not HTML
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in ("accelerometer", "camera", "geolocation", "gyroscope", "magnetometer", "microphone", "payment", "usb")
)


class SecurityHeadersMiddleware(MiddlewareMixin):
    """The middleware that adds Content-Security-Policy and Permissions-Policy to every response that lacks them."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        is_page = response.get("Content-Type", "").startswith("text/html")
        lead_out = bool(FORMS_REDIRECTING_OFFSITE.match(request.path))
        loopback = ("http://127.0.0.1:*", "http://localhost:*") if settings.OUTBOUND_ALLOW_LOOPBACK else ()
        policy = content_security_policy(("https:", *loopback) if lead_out else ())
        response.headers.setdefault("Content-Security-Policy", policy if is_page else NON_HTML_POLICY)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        return response


@lru_cache(maxsize=16)
def content_security_policy(form_targets: tuple[str, ...]) -> str:
    """Return the Content-Security-Policy header of an HTML page: no inline code, no other servers except the file storage.

    Forms of the page may lead to this service, and by redirects to `form_targets`.
    """
    media = " ".join(["'self'", "data:", "blob:", *allowed_storage_origins(settings.STORAGES["default"].get("OPTIONS", {}))])
    return "; ".join(
        [
            "default-src 'self'",
            f"img-src {media}",
            f"media-src {media}",
            " ".join(["form-action", "'self'", *form_targets]),
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "object-src 'none'",
        ]
    )


def allowed_storage_origins(options: dict[str, str]) -> list[str]:
    """Return the origins of the S3 bucket, from which the header Content-Security-Policy lets pages load files."""
    if "bucket_name" not in options:
        return []
    if "endpoint_url" not in options:
        return ["https://*.amazonaws.com"]
    endpoint = urlsplit(options["endpoint_url"])
    return [f"{endpoint.scheme}://{endpoint.netloc}", f"{endpoint.scheme}://{options['bucket_name']}.{endpoint.netloc}"]
