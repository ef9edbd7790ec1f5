"""Audit entries are deleted after the retention period of their tier."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from auditlog.models import AuditEntry
from auditlog.retention import ExpiredAuditEntriesRule
from tests.auditlog.rows import make_entry
from workspaces.models import Workspace


@pytest.mark.parametrize(("tier", "days"), [("free", 30), ("pro", 90), ("scale", 365), ("enterprise", 2555)])
def test_an_entry_is_deleted_after_its_retention_period(workspace: Workspace, tier: str, days: int) -> None:
    now = timezone.now()
    young = make_entry(workspace, retention_tier=tier, created_at=now - timedelta(days=days, minutes=-1))
    make_entry(workspace, retention_tier=tier, created_at=now - timedelta(days=days, minutes=1))

    assert (ExpiredAuditEntriesRule().count(), ExpiredAuditEntriesRule().purge(10), ExpiredAuditEntriesRule().purge(10)) == (
        1,
        1,
        0,
    )
    assert AuditEntry.objects.get() == young


def test_a_lower_tier_does_not_shorten_older_entries(workspace: Workspace) -> None:
    make_entry(workspace, retention_tier="scale", created_at=timezone.now() - timedelta(days=100))

    assert ExpiredAuditEntriesRule().purge(10) == 0


def test_a_purge_deletes_at_most_its_limit_and_can_continue(workspace: Workspace) -> None:
    for days in (31, 40, 100):
        for tier in ("free", "pro"):
            make_entry(workspace, retention_tier=tier, created_at=timezone.now() - timedelta(days=days))

    assert [ExpiredAuditEntriesRule().purge(2) for _ in range(4)] == [2, 1, 1, 0]
    assert AuditEntry.objects.count() == 2
