"""All routes: the apps bring full paths, this joins them."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from config.api.views import openapi
from config.site import health, pages, receiver

handler400 = "config.api.handler.bad_request"
handler403 = "config.api.handler.permission_denied"
handler404 = "config.api.handler.not_found"
handler500 = "config.api.handler.server_error"

urlpatterns = [
    path("", RedirectView.as_view(url="/docs")),
    path("openapi.json", openapi, name="openapi"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("", include("workspaces.urls")),
    path("", include("auditlog.urls")),
    path("", include("agents.urls")),
    path("", include("billing.urls")),
    path("", include("webhooks.urls")),
    path("", include("accounts.urls")),
    path("", include("media.urls")),
    path("", include("posts.urls")),
    path("dashboard/", pages.home, name="dashboard"),
    path("dashboard/sign-in", pages.sign_in, name="sign-in"),
    path("dashboard/sign-in/<str:user_id>/<str:token>", pages.sign_in_once, name="sign-in-once"),
    path("dashboard/sign-out", pages.sign_out, name="sign-out"),
    path("dashboard/webhook-receiver", receiver.receive, name="webhook-receiver"),
    path("admin/", admin.site.urls),
]
