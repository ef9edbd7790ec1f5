"""Retention of expired rows and purged workspaces: by API, beat task and `manage.py run_retention`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from pytest_django import Settings

from accounts.models import ConnectedAccount
from agents.models import Agent, ApiKey
from auditlog.models import AuditEntry
from billing import selectors
from billing.models import LedgerEntry, MonthCounter
from config.console import retention_run
from config.runtime.tasks import run_retention
from media import storage
from media.models import MediaAsset
from posts.models import PostGroup, PostTarget
from tests import factories
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from tests.media.pictures import jpeg
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create
from webhooks.models import Delivery, Event, SigningSecret
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
HELD = (*(PostGroup, MediaAsset, ConnectedAccount, Event, Delivery, SigningSecret, Agent, ApiKey, Member), Workspace)
HOOK = "http://127.0.0.1:9/hook"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def full(
    settings: Settings, tmp_path: object, clock: time_machine.Traveller, api: ApiClient, workspace: Workspace
) -> Workspace:
    """Create a workspace with rows of every kind, including a published and an unconfirmed post."""
    settings.MEDIA_ROOT = tmp_path
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    account = factories.AccountFactory.create(workspace=workspace)
    factories.agent_key(factories.AgentFactory.create(workspace=workspace))
    SigningSecret.objects.create(workspace=workspace, secret="whsec")
    api.upload(jpeg())
    create(api, account, webhook_url=HOOK)
    run_until_idle()
    Delivery.objects.update(status="dead_letter", due_at=None)
    unknown = create(api, factories.AccountFactory.create(workspace=workspace, sandbox=False))
    PostTarget.objects.filter(group_id=unknown["id"]).update(status="unconfirmed", certainty="maybe_sent", due_at=None)
    PostGroup.objects.filter(pk=unknown["id"]).update(status="unconfirmed")
    return workspace


def delete(workspace: Workspace, api: ApiClient) -> None:
    assert api.delete(f"/workspaces/{workspace.id}").status_code == 200
    ConnectedAccount.objects.update(status="disconnected")
    Delivery.objects.update(status="dead_letter", due_at=None)


def held(workspace: Workspace) -> set[str]:
    """Return the names of the tables in which the workspace still has rows."""
    named = {model: "pk" if model is Workspace else "workspace" for model in HELD}
    return {model.__name__ for model, name in named.items() if model._default_manager.filter(**{name: workspace.pk}).exists()}


def test_a_deleted_workspace_is_purged_with_its_rows_after_thirty_days(
    full: Workspace, api: ApiClient, clock: time_machine.Traveller
) -> None:
    other = factories.WorkspaceFactory.create()
    ApiClient(factories.workspace_key(other)).upload(jpeg())
    everything = held(full)
    delete(full, api)
    clock.shift(timedelta(days=30, seconds=-1))
    run_retention()
    early = held(full)
    clock.shift(timedelta(seconds=1))

    assert everything == {model.__name__ for model in HELD}
    assert early >= everything - {"Event", "Delivery"}  # those of the sandbox were deleted before
    assert run_retention() is True
    assert held(full) == set()
    assert held(other) == {"MediaAsset", "ApiKey", "Member", "Workspace"}
    assert {key.partition("/")[0] for key in storage.all_storage_keys()} == {other.id}
    assert User.objects.filter(pk=full.owner_user_id).exists()


def test_the_ledger_is_not_purged_and_balances_after_open_holds_are_released(
    full: Workspace, api: ApiClient, clock: time_machine.Traveller
) -> None:
    delete(full, api)
    counter = MonthCounter.objects.get(holder_id=full.id)
    clock.shift(timedelta(days=31))
    retention_run.run_retention()

    assert counter.held_cents > 0
    assert MonthCounter.objects.get(holder_id=full.id).held_cents == 0
    assert LedgerEntry.objects.filter(workspace_id=full.id).exists()
    assert selectors.find_wrong_month_counters() == []


def test_posts_of_an_existing_workspace_are_not_deleted(full: Workspace, clock: time_machine.Traveller) -> None:
    Workspace.objects.update(status="paused")
    clock.shift(timedelta(days=4000))
    run_retention()

    assert held(full) >= {"PostGroup", "MediaAsset", "ConnectedAccount", "ApiKey", "Workspace"}
    assert Event.objects.count() == AuditEntry.objects.count() == 0


def test_a_dry_run_of_the_api_returns_the_expired_rows(
    operator: ApiClient, full: Workspace, api: ApiClient, clock: time_machine.Traveller
) -> None:
    delete(full, api)
    clock.shift(timedelta(days=31))
    result = operator.post("/ops/retention/run", {"dry_run": True}).json()["would_delete"]
    rows = {rule["name"]: rule["rows"] for rule in result["rules"]}

    assert (rows["workspaces"], rows["post_groups"], rows["media"], rows["accounts"]) == (1, 2, 1, 2)
    assert any("post groups" in line for line in result["kept"])
    assert held(full) >= {"PostGroup", "Workspace"}
    assert operator_audit_entries("ops.run_retention") == [("", "", True, None)]
    real = {rule["name"]: rule["rows"] for rule in operator.post("/ops/retention/run").json()["rules"]}
    assert real == {**rows, "events_of_purged_workspaces": 0, "signing_secrets": 1}
    assert held(full) == set()


def test_the_command_prints_deleted_rows_and_data_that_is_never_deleted(
    full: Workspace, api: ApiClient, clock: time_machine.Traveller
) -> None:
    delete(full, api)
    clock.shift(timedelta(days=31))
    preview, real = StringIO(), StringIO()
    call_command("run_retention", dry_run=True, stdout=preview, stderr=StringIO())
    assert Workspace.objects.filter(pk=full.pk).exists()
    call_command("run_retention", stdout=real, stderr=StringIO())

    assert [line.split() for line in preview.getvalue().splitlines() if "  workspaces" in line] == [["1", "workspaces"]]
    assert "kept  post groups" in real.getvalue()
    assert not Workspace.objects.filter(pk=full.pk).exists()


def test_rows_left_after_the_time_limit_wait_for_the_next_run(
    full: Workspace, api: ApiClient, clock: time_machine.Traveller
) -> None:
    delete(full, api)
    clock.shift(timedelta(days=31))
    with pytest.raises(CommandError, match="run this again"):
        call_command("run_retention", seconds=0, stdout=StringIO(), stderr=StringIO())

    assert Workspace.objects.filter(pk=full.pk).exists()


class Faulty:
    """A retention rule that raises a database error."""

    name = "faulty"

    def count(self) -> int:
        return 1

    def purge(self, limit: int) -> int:
        with transaction.atomic():
            raise DatabaseError("locked")


def test_a_failing_rule_does_not_stop_the_others(
    operator: ApiClient, settings: Settings, clock: time_machine.Traveller, workspace: Workspace
) -> None:
    settings.RETENTION = [f"{__name__}.Faulty", *settings.RETENTION]
    AuditEntry.objects.create(operation="x", outcome="succeeded", retention_tier="free", created_at=NOON)
    clock.shift(timedelta(days=31))
    result = operator.post("/ops/retention/run").json()

    assert (result["complete"], result["faults"]) == (False, ["faulty"])
    assert {rule["name"]: rule["rows"] for rule in result["rules"]}["audit_entries"] == 1
