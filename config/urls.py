"""All routes: the apps bring full paths, this joins them."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from config.api.views import openapi
from config.site import agent_page, health, home, metrics, pages, receiver, webhook_trial
from config.site.notices.page import notices

handler400 = "config.api.handler.bad_request"
handler403 = "config.api.handler.permission_denied"
handler404 = "config.site.error_pages.not_found"
handler500 = "config.site.error_pages.server_error"

urlpatterns = [
    path("", RedirectView.as_view(url="/docs")),
    path("openapi.json", openapi, name="openapi"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="openapi"), name="docs"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("", include("workspaces.urls")),
    path("", include("auditlog.urls")),
    path("", include("agents.urls")),
    path("", include("billing.urls")),
    path(  # before the page of a delivery, which it would be taken for
        "dashboard/workspaces/<str:workspace_id>/webhooks/test", webhook_trial.webhook_trial, name="webhook-test"
    ),
    path("", include("webhooks.urls")),
    path("", include("accounts.urls")),
    path("", include("media.urls")),
    path("", include("posts.urls")),
    path("", include("config.site.ops.urls")),
    path("dashboard/", home.choose, name="dashboard"),
    path("dashboard/workspaces/<str:workspace_id>", home.home, name="home"),
    path("dashboard/workspaces/<str:workspace_id>/agents/new", agent_page.new_agent, name="agent-new"),
    path("dashboard/workspaces/<str:workspace_id>/agents/<str:agent_id>", agent_page.agent, name="agent"),
    path("dashboard/workspaces/<str:workspace_id>/agents/<str:agent_id>/stop", agent_page.stop, name="agent-stop"),
    path("dashboard/workspaces/<str:workspace_id>/settings/notices", notices, name="notices"),
    path("dashboard/sign-in", pages.sign_in, name="sign-in"),
    path("dashboard/sign-in/begin", pages.begin_sign_in, name="sign-in-begin"),
    path("dashboard/sign-in/again", pages.sign_in_again, name="sign-in-again"),
    path("dashboard/sign-in/continue", pages.held_form_page, name="held-form"),
    path("dashboard/sign-in/callback", pages.sign_in_callback, name="sign-in-callback"),
    path("dashboard/sign-in/<str:user_id>/<str:token>", pages.sign_in_once, name="sign-in-once"),
    path("dashboard/sign-out", pages.sign_out, name="sign-out"),
    path("dashboard/webhook-receiver", receiver.receive, name="webhook-receiver"),
    path("admin/logout/", pages.sign_out),
    path("admin/", admin.site.urls),
]
