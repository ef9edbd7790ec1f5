"""Deletion of the posts of workspaces that were deleted long enough ago. Other posts are stored for good."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from billing.services import release_many
from config.db.retention import ExpiredRows
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED, TargetStatus
from workspaces.retention import workspaces_to_purge


class PurgedWorkspacePosts(ExpiredRows):
    """Finished post groups of purged workspaces. Money held for unconfirmed targets is released."""

    name = "post_groups"

    def expired_rows(self) -> QuerySet[PostGroup]:
        return PostGroup.objects.filter(workspace__in=workspaces_to_purge())

    def deletable_rows(self) -> QuerySet[PostGroup]:
        return self.expired_rows().filter(status__in=FINISHED)

    def delete(self, pks: Sequence[str]) -> None:
        targets = PostTarget.objects.filter(group__in=pks)
        release_many(
            target_ids=targets.filter(status=TargetStatus.UNCONFIRMED, sandbox=False).values_list("pk", flat=True),
            failed=False,
        )
        targets.delete()
        super().delete(pks)
