"""Routes of the pages that span several apps."""

from __future__ import annotations

from django.urls import path

from config.home import agent_page, home, webhook_receiver, webhook_trial

urlpatterns = [
    path("dashboard/", home.choose, name="dashboard"),
    path("dashboard/workspaces/<str:workspace_id>", home.home, name="home"),
    path("dashboard/workspaces/<str:workspace_id>/agents/new", agent_page.new_agent, name="agent-new"),
    path("dashboard/workspaces/<str:workspace_id>/agents/<str:agent_id>", agent_page.agent, name="agent"),
    path("dashboard/workspaces/<str:workspace_id>/agents/<str:agent_id>/stop", agent_page.stop, name="agent-stop"),
    path("dashboard/workspaces/<str:workspace_id>/webhooks/test", webhook_trial.webhook_trial, name="webhook-test"),
    path("dashboard/webhook-receiver", webhook_receiver.receive, name="webhook-receiver"),
]
