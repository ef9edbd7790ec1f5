"""Connections that were never completed, and the accounts of workspaces that were deleted long enough ago."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.models import ConnectedAccount, ConnectionAttempt
from accounts.services.attempts import attempts_over
from config.db.retention import ExpiredRows
from workspaces.retention import workspaces_to_purge


class ConnectionAttempts(ExpiredRows):
    """With all that they opened. The beat sees to them each minute besides, for the sake of what is sealed in them."""

    name = "connection_attempts"

    def expired_rows(self) -> QuerySet[ConnectionAttempt]:
        return attempts_over()


class AccountsOfPurged(ExpiredRows):
    """Disconnected long ago; each goes when the last target that was published to it is gone."""

    name = "accounts"

    def expired_rows(self) -> QuerySet[ConnectedAccount]:
        return ConnectedAccount.objects.filter(workspace__in=workspaces_to_purge())

    def deletable_rows(self) -> QuerySet[ConnectedAccount]:
        return self.expired_rows().filter(status=ConnectedAccount.Status.DISCONNECTED, targets=None)
