"""How long audit entries are kept: by the tier that each was written under."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from auditlog.models import AuditEntry
from auditlog.retention import AuditEntries
from tests.auditlog.rows import make_entry
from workspaces.models import Workspace


@pytest.mark.parametrize(("tier", "days"), [("free", 30), ("pro", 90), ("scale", 365), ("enterprise", 2555)])
def test_an_entry_goes_when_its_tier_is_over(workspace: Workspace, tier: str, days: int) -> None:
    now = timezone.now()
    young = make_entry(workspace, retention_tier=tier, created_at=now - timedelta(days=days, minutes=-1))
    make_entry(workspace, retention_tier=tier, created_at=now - timedelta(days=days, minutes=1))

    assert (AuditEntries().count(), AuditEntries().purge(10), AuditEntries().purge(10)) == (1, 1, 0)
    assert AuditEntry.objects.get() == young


def test_what_was_written_under_a_higher_tier_stays_when_the_workspace_has_a_lower_one(workspace: Workspace) -> None:
    make_entry(workspace, retention_tier="scale", created_at=timezone.now() - timedelta(days=100))

    assert AuditEntries().purge(10) == 0


def test_a_batch_takes_no_more_than_it_is_given_and_the_next_goes_on(workspace: Workspace) -> None:
    for days in (31, 40, 100):
        for tier in ("free", "pro"):
            make_entry(workspace, retention_tier=tier, created_at=timezone.now() - timedelta(days=days))

    assert [AuditEntries().purge(2) for _ in range(4)] == [2, 1, 1, 0]
    assert AuditEntry.objects.count() == 2
