"""URL routes of the accounts and capabilities API, and of the dashboard pages that connect accounts."""

from __future__ import annotations

from django.urls import path

from accounts.dashboard import accounts, avatars, connect_oauth, connect_platform, slots
from accounts.views import AccountViewSet, CompleteConnectionViewSet, ServiceCapabilitiesViewSet

WORKSPACE_PATH = "dashboard/workspaces/<str:workspace_id>"

urlpatterns = [
    path("accounts", AccountViewSet.as_view({"get": "list"})),
    path("accounts/connect", AccountViewSet.as_view({"post": "connect"})),
    path("accounts/oauth/callback", CompleteConnectionViewSet.as_view({"get": "complete"})),
    path("accounts/<str:account_id>", AccountViewSet.as_view({"delete": "destroy"})),
    path("accounts/<str:account_id>/status", AccountViewSet.as_view({"get": "check_and_update_status"})),
    path("accounts/<str:account_id>/slots", AccountViewSet.as_view({"get": "slots", "put": "update_slots"})),
    path("accounts/<str:account_id>/capabilities", AccountViewSet.as_view({"get": "capabilities"})),
    path("dashboard/connect", connect_oauth.begin_oauth, name="connect-begin"),
    path("dashboard/connect/callback", connect_oauth.complete_oauth_or_choose_account, name="connect-callback"),
    path("capabilities", ServiceCapabilitiesViewSet.as_view({"get": "retrieve"})),
    path(f"{WORKSPACE_PATH}/accounts", accounts.account_list, name="accounts"),
    path(
        f"{WORKSPACE_PATH}/accounts/connect/<str:platform_name>",
        connect_platform.show_connection_methods_or_connect,
        name="account-connect",
    ),
    path(f"{WORKSPACE_PATH}/accounts/<str:account_id>", accounts.account_details, name="account"),
    path(f"{WORKSPACE_PATH}/accounts/<str:account_id>/avatar/<str:digest>", avatars.serve_avatar, name="account-avatar"),
    path(f"{WORKSPACE_PATH}/accounts/<str:account_id>/slots", slots.edit_slots, name="account-slots"),
    path(f"{WORKSPACE_PATH}/accounts/<str:account_id>/check", accounts.check_account_now, name="account-check"),
    path(f"{WORKSPACE_PATH}/accounts/<str:account_id>/disconnect", accounts.disconnect_account, name="account-disconnect"),
]
