"""Routes of connected accounts and capabilities."""

from __future__ import annotations

from django.urls import path

from accounts.views import AccountViewSet, CapabilitiesViewSet, OAuthCallbackViewSet

urlpatterns = [
    path("accounts", AccountViewSet.as_view({"get": "list"})),
    path("accounts/connect", AccountViewSet.as_view({"post": "connect"})),
    path("accounts/oauth/callback", OAuthCallbackViewSet.as_view({"get": "complete"})),
    path("accounts/<str:account_id>", AccountViewSet.as_view({"delete": "destroy"})),
    path("accounts/<str:account_id>/status", AccountViewSet.as_view({"get": "status"})),
    path("accounts/<str:account_id>/capabilities", AccountViewSet.as_view({"get": "capabilities"})),
    path("capabilities", CapabilitiesViewSet.as_view({"get": "retrieve"})),
]
