"""Retention rules for posts and series of deleted workspaces, for expired plans, and for abandoned composer drafts.

Posts of other workspaces are stored for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from billing.services import release_holds
from config.db.retention import ExpiredRowsRule
from posts.models import ComposerDraft, PostGroup, PostTarget, Series, SeriesOccurrence, StoredPlan
from posts.states import FINISHED_GROUP_STATUSES, TargetStatus
from workspaces.retention import workspaces_to_purge

DRAFT_PERIOD, DISCARDED_DRAFT_PERIOD = timedelta(days=30), timedelta(days=1)


class ExpiredComposerDraftsRule(ExpiredRowsRule):
    """The retention rule for composer drafts that were not changed for 30 days or were discarded a day ago.

    The drafts of deleted people and of purged workspaces are deleted, too.
    """

    name = "composer_drafts"

    def expired_rows(self) -> QuerySet[ComposerDraft]:
        now = timezone.now()
        old = Q(saved_at__lt=now - DRAFT_PERIOD) | Q(discarded_at__lt=now - DISCARDED_DRAFT_PERIOD)
        return ComposerDraft.objects.filter(old | Q(user__is_active=False) | Q(workspace__in=workspaces_to_purge()))


class ExpiredPlansRule(ExpiredRowsRule):
    """The retention rule that deletes stored plans of posts a day after they expire; until then they are shown as expired."""

    name = "plans"

    def expired_rows(self) -> QuerySet[StoredPlan]:
        return StoredPlan.objects.filter(expires_at__lte=timezone.now() - timedelta(days=1)).order_by("expires_at")


class PurgedWorkspacePostsRule(ExpiredRowsRule):
    """The retention rule that deletes the finished posts of purged workspaces and releases money still held for them.

    Money is held for targets whose outcome was never confirmed.
    """

    name = "post_groups"

    def expired_rows(self) -> QuerySet[PostGroup]:
        return PostGroup.objects.filter(workspace__in=workspaces_to_purge())

    def next_rows_to_delete(self) -> QuerySet[PostGroup]:
        return self.expired_rows().filter(status__in=FINISHED_GROUP_STATUSES)

    def delete(self, pks: Sequence[str]) -> None:
        targets = PostTarget.objects.filter(group__in=pks)
        release_holds(
            target_ids=targets.filter(status=TargetStatus.UNCONFIRMED, sandbox=False).values_list("pk", flat=True),
            failed=False,
        )
        targets.delete()
        super().delete(pks)


class PurgedWorkspaceSeriesRule(ExpiredRowsRule):
    """The retention rule that deletes the series of purged workspaces, with their occurrences."""

    name = "series"

    def expired_rows(self) -> QuerySet[Series]:
        return Series.objects.filter(workspace__in=workspaces_to_purge())

    def delete(self, pks: Sequence[str]) -> None:
        SeriesOccurrence.objects.filter(series__in=pks).delete()
        super().delete(pks)
