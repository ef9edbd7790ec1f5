"""Routes of connected accounts and capabilities, and the pages of connecting."""

from __future__ import annotations

from django.urls import path

from accounts import dashboard
from accounts.views import AccountViewSet, CapabilitiesViewSet, OAuthCallbackViewSet

urlpatterns = [
    path("accounts", AccountViewSet.as_view({"get": "list"})),
    path("accounts/connect", AccountViewSet.as_view({"post": "connect"})),
    path("accounts/oauth/callback", OAuthCallbackViewSet.as_view({"get": "complete"})),
    path("accounts/<str:account_id>", AccountViewSet.as_view({"delete": "destroy"})),
    path("accounts/<str:account_id>/status", AccountViewSet.as_view({"get": "status"})),
    path("accounts/<str:account_id>/capabilities", AccountViewSet.as_view({"get": "capabilities"})),
    path("dashboard/connect", dashboard.begin, name="connect-begin"),
    path("dashboard/connect/callback", dashboard.callback, name="connect-callback"),
    path("capabilities", CapabilitiesViewSet.as_view({"get": "retrieve"})),
]
