"""The migration that gives targets the times of their post groups, with rows from before it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from posts.models import PostTarget
from workspaces.models import Workspace

BEFORE = ("posts", "0011_certain_outcomes")
MORNING, EVENING = datetime(2027, 3, 11, 8, tzinfo=UTC), datetime(2027, 3, 11, 18, tzinfo=UTC)

pytestmark = pytest.mark.django_db(transaction=True)


def migrate(*targets: tuple[str, str]) -> Any:
    """Migrate to these migrations; returns the app registry with the models of that state."""
    executor = MigrationExecutor(connection)
    executor.migrate(list(targets))
    return executor.loader.project_state(list(targets)).apps


@pytest.fixture
def old_apps(account: ConnectedAccount) -> Iterator[Any]:
    """The models of before the migration, on a database of that state; afterwards the database is up to date again."""
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes("posts")
    yield migrate(BEFORE)
    migrate(*latest)


def old_group(old_apps: Any, workspace: Workspace, account_ids: list[str], at: datetime | None) -> list[str]:
    """A post group from before the migration, with a target for each account; returns the ids of the targets."""
    made = {"status": "scheduled", "created_by_type": "user", "created_by_id": "usr", "trace_id": "0" * 32}
    times = {"created_at": timezone.now(), "updated_at": timezone.now()}
    group = old_apps.get_model("posts", "PostGroup").objects.create(
        id=new_id("pgr"), workspace_id=workspace.id, scheduled_at=at, **made, **times
    )
    target = old_apps.get_model("posts", "PostTarget").objects
    about = {"group": group, "platform": "bluesky", "content_sha256": "", **times}
    return [
        target.create(id=new_id("tgt"), account_id=account_id, position=place, **about).pk
        for place, account_id in enumerate(account_ids)
    ]


def test_targets_get_the_time_of_their_group(
    old_apps: Any, workspace: Workspace, accounts: list[ConnectedAccount], monkeypatch: pytest.MonkeyPatch
) -> None:
    migration = import_module("posts.migrations.0012_target_times")
    monkeypatch.setattr(migration, "BATCH", 2)  # so that there are several batches
    ids = [account.id for account in accounts]
    expected: dict[str, datetime | None] = {}
    for at in (MORNING, None, EVENING, MORNING):
        expected |= dict.fromkeys(old_group(old_apps, workspace, ids, at), at)

    migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes("posts"))

    assert dict(PostTarget.objects.values_list("pk", "scheduled_at")) == expected


def test_times_that_targets_have_stay_if_the_copy_is_repeated(
    old_apps: Any, workspace: Workspace, accounts: list[ConnectedAccount]
) -> None:
    """The copy runs outside a transaction, so it may have been interrupted, and targets may have got other times since."""
    [moved, other] = old_group(old_apps, workspace, [account.id for account in accounts[:2]], MORNING)
    apps = migrate(("posts", "0012_target_times"))
    apps.get_model("posts", "PostTarget").objects.filter(pk=moved).update(scheduled_at=EVENING)
    apps.get_model("posts", "PostTarget").objects.filter(pk=other).update(scheduled_at=None)

    copy = import_module("posts.migrations.0012_target_times")
    copy.give_targets_the_time_of_their_group(apps, None)

    migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes("posts"))
    assert dict(PostTarget.objects.values_list("pk", "scheduled_at")) == {moved: EVENING, other: MORNING}
