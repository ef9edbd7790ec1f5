"""Retention rules for the agents and API keys of deleted workspaces, and for old rows of the OAuth server."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from agents.models import Agent, ApiKey, DeviceAuthorization, OAuthClient, OAuthToken
from config.db.retention import ExpiredRowsRule
from workspaces.retention import workspaces_to_purge

UNUSED_CLIENT_LIFETIME = timedelta(days=7)
DEVICE_AUTHORIZATION_LIFETIME = timedelta(days=1)  # after it has expired


class ExpiredOAuthTokensRule(ExpiredRowsRule):
    """The retention rule that deletes, in all workspaces, OAuth tokens that can no longer be refreshed."""

    name = "oauth_tokens"

    def expired_rows(self) -> QuerySet[OAuthToken]:
        expired = Q(refresh_expires_at__lte=timezone.now())
        return OAuthToken.objects.filter(expired | Q(workspace__in=workspaces_to_purge()))


class ExpiredDeviceAuthorizationsRule(ExpiredRowsRule):
    name = "oauth_device_authorizations"

    def expired_rows(self) -> QuerySet[DeviceAuthorization]:
        return DeviceAuthorization.objects.filter(expires_at__lte=timezone.now() - DEVICE_AUTHORIZATION_LIFETIME)


class UnusedOAuthClientsRule(ExpiredRowsRule):
    """The retention rule that deletes old OAuth clients that have neither a grant nor a device authorization.

    A client with a metadata document is stored again when it is next used.
    """

    name = "oauth_clients"

    def expired_rows(self) -> QuerySet[OAuthClient]:
        old = OAuthClient.objects.filter(updated_at__lte=timezone.now() - UNUSED_CLIENT_LIFETIME)
        return old.filter(grants=None, device_authorizations=None)


class PurgedWorkspaceApiKeysRule(ExpiredRowsRule):
    name = "api_keys"

    def expired_rows(self) -> QuerySet[ApiKey]:
        return ApiKey.objects.filter(workspace__in=workspaces_to_purge())


class PurgedWorkspaceAgentsRule(ExpiredRowsRule):
    """The retention rule that deletes the agents of deleted workspaces, once their API keys and OAuth tokens are deleted."""

    name = "agents"

    def expired_rows(self) -> QuerySet[Agent]:
        return Agent.objects.filter(workspace__in=workspaces_to_purge())

    def next_rows_to_delete(self) -> QuerySet[Agent]:
        return self.expired_rows().filter(api_keys=None, oauth_tokens=None)
