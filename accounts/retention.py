"""Retention rules that delete expired OAuth connection attempts and the connected accounts of purged workspaces."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.services.connection_attempts import connection_attempts_to_purge
from config.db.retention import ExpiredRowsRule
from workspaces.retention import workspaces_to_purge


class ExpiredConnectionAttemptsRule(ExpiredRowsRule):
    """The retention rule that deletes OAuth connection attempts that have expired or whose workspace was deleted.

    A periodic task also deletes them each minute, because they contain encrypted secrets.
    """

    name = "connection_attempts"

    def expired_rows(self) -> QuerySet[ConnectionAttempt]:
        return connection_attempts_to_purge()


class PurgedWorkspaceAccountsRule(ExpiredRowsRule):
    """The retention rule that deletes a purged workspace's connected accounts once all their post targets are deleted."""

    name = "accounts"

    def expired_rows(self) -> QuerySet[ConnectedAccount]:
        return ConnectedAccount.objects.filter(workspace__in=workspaces_to_purge())

    def next_rows_to_delete(self) -> QuerySet[ConnectedAccount]:
        return self.expired_rows().filter(status=ConnectedAccount.Status.DISCONNECTED, targets=None)
