"""The URL routes of the whole service, joined from the `urls` modules of the apps."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.utils.module_loading import autodiscover_modules
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from config.api.openapi_document import serve_openapi_document
from workspaces.dashboard.sign_in import sign_out_of_all_browsers

admin.autodiscover()
autodiscover_modules("openapi")  # which describe the apps' authentication classes in the OpenAPI document

handler400 = "config.home.error_pages.bad_request"
handler403 = "config.home.error_pages.permission_denied"
handler404 = "config.home.error_pages.not_found"
handler500 = "config.home.error_pages.server_error"

urlpatterns = [
    path("", include("posts.urls")),  # first, because most requests are about posts, and routes are tried in this order
    path("", RedirectView.as_view(url="/docs")),
    path("openapi.json", serve_openapi_document, name="openapi"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
    path("", include("config.home.urls")),  # first, because /webhooks/test would match the route of a delivery
    path("", include("config.mcp.urls")),
    path("", include("config.notices.urls")),
    path("", include("config.console.urls")),
    path("", include("workspaces.urls")),
    path("", include("auditlog.urls")),
    path("", include("agents.urls")),
    path("", include("billing.urls")),
    path("", include("webhooks.urls")),
    path("", include("accounts.urls")),
    path("", include("media.urls")),
    path("admin/logout/", sign_out_of_all_browsers),
    path("admin/", admin.site.urls),
]
