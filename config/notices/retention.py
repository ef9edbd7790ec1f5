"""Retention rules of notices: they delete old notices, and those of deleted workspaces with their channels."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from config.db.retention import ExpiredRowsRule
from config.notices.models import ChannelMessage, Digest, Notice, NoticeChannel
from workspaces.retention import workspaces_to_purge

NOTICE_RETENTION = timedelta(days=90)  # longer than MAX_LOOKBACK in creation.py, so that nothing is reported twice

MESSAGE_RETENTION = timedelta(days=30)


class ExpiredNoticesRule(ExpiredRowsRule):
    """Retention rule: deletes an e-mail notice 90 days after it was created or its event happened, whichever is later."""

    name = "notices"

    def expired_rows(self) -> QuerySet[Notice]:
        expiry = timezone.now() - NOTICE_RETENTION
        return Notice.objects.filter(created_at__lt=expiry, at__lt=expiry)


class FinishedChannelMessagesRule(ExpiredRowsRule):
    """Retention rule: deletes messages to notice channels 30 days after they were queued, once they are sent or given up."""

    name = "channel_messages"

    def expired_rows(self) -> QuerySet[ChannelMessage]:
        return ChannelMessage.objects.filter(due_at=None, created_at__lt=timezone.now() - MESSAGE_RETENTION)


class DeletedWorkspaceChannelsRule(ExpiredRowsRule):
    """Retention rule: deletes notice channels with their secrets soon after their workspace was deleted."""

    name = "notice_channels_of_deleted_workspaces"

    def expired_rows(self) -> QuerySet[NoticeChannel]:
        return NoticeChannel.objects.filter(workspace__status=WorkspaceStatus.DELETED)


class PurgedWorkspaceNoticesRule(ExpiredRowsRule):
    name = "notices_of_purged_workspaces"

    def expired_rows(self) -> QuerySet[Notice]:
        return Notice.objects.filter(workspace__in=workspaces_to_purge())


class PurgedWorkspaceDigestsRule(ExpiredRowsRule):
    name = "digests_of_purged_workspaces"

    def expired_rows(self) -> QuerySet[Digest]:
        return Digest.objects.filter(workspace__in=workspaces_to_purge())
