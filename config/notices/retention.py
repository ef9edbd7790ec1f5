"""Retention rules of e-mail notices: they delete old notices, and all notices of workspaces whose data was deleted."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from config.db.retention import ExpiredRowsRule
from config.notices.models import Digest, Notice
from workspaces.retention import workspaces_to_purge

NOTICE_RETENTION = timedelta(days=90)  # longer than MAX_LOOKBACK in sending.py, so that nothing is reported twice


class ExpiredNoticesRule(ExpiredRowsRule):
    """Retention rule: deletes an e-mail notice 90 days after it was created or its event happened, whichever is later."""

    name = "notices"

    def expired_rows(self) -> QuerySet[Notice]:
        expiry = timezone.now() - NOTICE_RETENTION
        return Notice.objects.filter(created_at__lt=expiry, at__lt=expiry)


class PurgedWorkspaceNoticesRule(ExpiredRowsRule):
    name = "notices_of_purged_workspaces"

    def expired_rows(self) -> QuerySet[Notice]:
        return Notice.objects.filter(workspace__in=workspaces_to_purge())


class PurgedWorkspaceDigestsRule(ExpiredRowsRule):
    name = "digests_of_purged_workspaces"

    def expired_rows(self) -> QuerySet[Digest]:
        return Digest.objects.filter(workspace__in=workspaces_to_purge())
