"""The rules by which posts of deleted workspaces and expired plans are deleted from the database.

Posts of other workspaces are stored for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from billing.services import release_holds
from config.db.retention import ExpiredRows
from posts.models import PostGroup, PostTarget, StoredPlan
from posts.states import FINISHED, TargetStatus
from workspaces.retention import workspaces_to_purge


class ExpiredPlans(ExpiredRows):
    """The retention rule that deletes stored plans of posts a day after they expire; until then they say that they did."""

    name = "plans"

    def expired_rows(self) -> QuerySet[StoredPlan]:
        return StoredPlan.objects.filter(expires_at__lte=timezone.now() - timedelta(days=1)).order_by("expires_at")


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
