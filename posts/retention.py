"""The rule by which posts are deleted from the database some time after their workspace was deleted.

Posts of other workspaces are stored for good.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from billing.services import release_holds
from config.db.retention import ExpiredRows
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED, TargetStatus
from workspaces.retention import workspaces_to_purge


class PurgedWorkspacePosts(ExpiredRows):
    """The retention rule that deletes the finished posts of purged workspaces and releases money still held for them.

    Money is held for targets whose outcome was never confirmed.
    """

    name = "post_groups"

    def expired_rows(self) -> QuerySet[PostGroup]:
        return PostGroup.objects.filter(workspace__in=workspaces_to_purge())

    def deletable_rows(self) -> QuerySet[PostGroup]:
        return self.expired_rows().filter(status__in=FINISHED)

    def delete(self, pks: Sequence[str]) -> None:
        targets = PostTarget.objects.filter(group__in=pks)
        release_holds(
            target_ids=targets.filter(status=TargetStatus.UNCONFIRMED, sandbox=False).values_list("pk", flat=True),
            failed=False,
        )
        targets.delete()
        super().delete(pks)
