"""Retention rules that delete the media of purged workspaces: first the stored files, then the database rows."""

from __future__ import annotations

from django.db.models import QuerySet

from config.db.retention import ExpiredRowsRule
from media.models import MediaAsset, MediaUsage
from media.services import mark_media_deleted_in_workspaces_to_purge, purge_deleted_files
from workspaces.retention import workspaces_to_purge


class PurgedWorkspaceMediaRule(ExpiredRowsRule):
    """The retention rule for media assets of purged workspaces; an asset's row is deleted after its files."""

    name = "media"

    def expired_rows(self) -> QuerySet[MediaAsset]:
        return MediaAsset.objects.filter(workspace__in=workspaces_to_purge())

    def next_rows_to_delete(self) -> QuerySet[MediaAsset]:
        return self.expired_rows().filter(status=MediaAsset.Status.DELETED, storage_key="", thumbnail_key="")

    def purge(self, limit: int) -> int:
        mark_media_deleted_in_workspaces_to_purge(limit=limit)
        purge_deleted_files(limit=limit)
        return super().purge(limit)


class PurgedWorkspaceMediaUsageRule(ExpiredRowsRule):
    """The retention rule that deletes a purged workspace's counter of used media bytes, after its media assets."""

    name = "media_usage"

    def expired_rows(self) -> QuerySet[MediaUsage]:
        return MediaUsage.objects.filter(workspace__in=workspaces_to_purge())

    def next_rows_to_delete(self) -> QuerySet[MediaUsage]:
        return self.expired_rows().exclude(workspace__in=MediaAsset.objects.values("workspace"))
