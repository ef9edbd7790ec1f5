"""Retention rules for the agents and API keys of deleted workspaces."""

from __future__ import annotations

from django.db.models import QuerySet

from agents.models import Agent, ApiKey
from config.db.retention import ExpiredRowsRule
from workspaces.retention import workspaces_to_purge


class PurgedWorkspaceApiKeysRule(ExpiredRowsRule):
    name = "api_keys"

    def expired_rows(self) -> QuerySet[ApiKey]:
        return ApiKey.objects.filter(workspace__in=workspaces_to_purge())


class PurgedWorkspaceAgentsRule(ExpiredRowsRule):
    """The retention rule that deletes the agents of deleted workspaces, once the agents' API keys are deleted."""

    name = "agents"

    def expired_rows(self) -> QuerySet[Agent]:
        return Agent.objects.filter(workspace__in=workspaces_to_purge())

    def next_rows_to_delete(self) -> QuerySet[Agent]:
        return self.expired_rows().filter(api_keys=None)
