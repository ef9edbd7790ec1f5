"""URL routes of the dashboard's home page, agents' pages, webhook test, and the pages of the OAuth server."""

from __future__ import annotations

from django.urls import path

from config.home import agents, consent, home, webhook_test_page

WORKSPACE_PATH = "dashboard/workspaces/<str:workspace_id>"

urlpatterns = [
    path("oauth/authorize", consent.show_or_decide_oauth_consent, name="oauth-authorize"),
    path("oauth/device", consent.begin_device_flow_or_ask_for_code, name="oauth-device"),
    path("oauth/device/decide", consent.show_or_decide_device_consent, name="oauth-device-decide"),
    path(WORKSPACE_PATH, home.workspace_home, name="home"),
    path(f"{WORKSPACE_PATH}/agents", agents.agent_list, name="agents"),
    path(f"{WORKSPACE_PATH}/agents/new", agents.show_form_or_create_agent, name="agent-new"),
    path(f"{WORKSPACE_PATH}/agents/<str:agent_id>", agents.show_or_save_agent_settings, name="agent"),
    path(f"{WORKSPACE_PATH}/agents/<str:agent_id>/rotate-key", agents.rotate_agent_key, name="agent-rotate-key"),
    path(f"{WORKSPACE_PATH}/agents/<str:agent_id>/stop", agents.limit_agent_to_dry_runs, name="agent-stop"),
    path(f"{WORKSPACE_PATH}/agents/<str:agent_id>/disconnect", agents.end_oauth_access_of_agent, name="agent-disconnect"),
    path(f"{WORKSPACE_PATH}/agents/<str:agent_id>/revoke", agents.revoke_agent, name="agent-revoke"),
    path(f"{WORKSPACE_PATH}/webhooks/test", webhook_test_page.publish_sandbox_post_to_test_webhook, name="webhook-test"),
]
