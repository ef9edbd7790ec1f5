"""The dashboard as an app that browsers can install: its manifest, its service worker, and its page without a connection.

The service worker keeps nothing but the page without a connection, which contains nothing of any workspace.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

CACHED_FOR_A_MINUTE = {"Cache-Control": "max-age=60"}


@require_safe
def serve_app_manifest(request: HttpRequest) -> JsonResponse:
    """View: the Web App Manifest (W3C), from which browsers install the dashboard as an app."""
    manifest = {
        "id": "/dashboard/",
        "name": "Social Publishing Service",
        "short_name": "Publishing",
        "start_url": reverse("dashboard"),
        "scope": "/dashboard/",
        "display": "standalone",
        "background_color": "#fbfaf8",
        "theme_color": "#fbfaf8",
        "icons": [
            {"src": static("site/icon.svg"), "sizes": "any", "type": "image/svg+xml"},
            {"src": static("site/icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": static("site/icon-512.png"), "sizes": "512x512", "type": "image/png"},
            {"src": static("site/icon-maskable.png"), "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
        ],
    }
    return JsonResponse(manifest, content_type="application/manifest+json", headers=CACHED_FOR_A_MINUTE)


@require_safe
def serve_service_worker(request: HttpRequest) -> HttpResponse:
    """View: the service worker of the installed app, which shows its offline page when the service cannot be reached.

    It is no static file, because browsers allow a service worker only the pages below its own path. It needs a content
    security policy of its own, because that of other answers that are not HTML would forbid all its requests. It names the
    language of the page, so that browsers install it, and fetch the page, again after a person has chosen another language.
    """
    headers = {**CACHED_FOR_A_MINUTE, "Content-Security-Policy": "default-src 'self'"}
    script = render_to_string("workspaces/service_worker.js", {"language": get_language()})
    return HttpResponse(script, content_type="text/javascript", headers=headers)


@require_safe
def show_offline_page(request: HttpRequest) -> HttpResponse:
    """View: the page that the installed app shows without a connection; only its language depends on the user."""
    return render(request, "workspaces/offline.html")
