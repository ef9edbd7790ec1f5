"""The migration that schedules the first fetch of pictures, for the accounts that were connected before it."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.models import Avatar
from tests.factories import AccountFactory
from workspaces.models import Workspace

WEEK = timedelta(days=7)


def test_the_pictures_of_connected_accounts_are_scheduled_over_a_week(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    migration = import_module("accounts.migrations.0010_schedule_avatars")
    monkeypatch.setattr(migration, "BATCH", 2)  # so that there are several batches
    accounts = [AccountFactory(workspace=workspace, sandbox=False) for _ in range(5)]
    AccountFactory(workspace=workspace, sandbox=True)
    AccountFactory(workspace=workspace, sandbox=False, status="disconnected")
    before = timezone.now()

    migration.schedule_avatars_of_connected_accounts(apps, None)

    due = dict(Avatar.objects.values_list("account_id", "due_at"))
    assert set(due) == {account.pk for account in accounts}
    assert all(before <= at <= timezone.now() + WEEK for at in due.values())
    assert len(set(due.values())) == len(due)

    migration.schedule_avatars_of_connected_accounts(apps, None)  # an interrupted migration is repeated
    assert dict(Avatar.objects.values_list("account_id", "due_at")) == due
