"""GET /ops/status, and the result of /readyz in the same situations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.conf import settings

from accounts.models import ConnectedAccount
from billing.models import BillingAlarm, UsageReport
from config.console import status
from config.jobs.models import Heartbeat
from config.runtime.tasks import beat_heartbeat
from tests.conftest import ApiClient
from tests.webhooks.rows import make_delivery
from webhooks.models import Delivery
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _at_noon(db: None) -> object:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


def beat(*duties: str, at: datetime = NOON) -> None:
    for duty in duties:
        Heartbeat.objects.create(duty=duty, beat_at=at)


def test_the_status_has_a_queue_for_each_worker_loop() -> None:
    assert status.QUEUE_MODELS.keys() == settings.WORKER_LOOPS.keys()


def test_a_queues_status_has_its_oldest_due_row_and_the_number_of_due_rows(operator: ApiClient, workspace: Workspace) -> None:
    rows = [make_delivery(workspace, "https://receiver.example/") for _ in range(3)]
    Delivery.objects.filter(pk=rows[0].pk).update(due_at=NOON - timedelta(seconds=90))
    Delivery.objects.filter(pk=rows[1].pk).update(due_at=NOON + timedelta(hours=1))
    beat("deliver", at=NOON - timedelta(seconds=10))
    beat("publish", at=NOON - timedelta(minutes=2))
    result = {each["duty"]: each for each in operator.get("/ops/status").json()["duties"]}

    assert result["deliver"] == {
        "duty": "deliver",
        "due": 2,
        "oldest_due_at": "2027-03-10T11:58:30Z",
        "late_seconds": 90.0,
        "heartbeat_at": "2027-03-10T11:59:50Z",
        "alive": True,
    }
    assert (result["publish"]["due"], result["publish"]["late_seconds"], result["publish"]["alive"]) == (0, 0.0, False)
    assert result["usage_reports"]["heartbeat_at"] is None


def test_the_status_counts_problems_that_need_an_operator(
    operator: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")
    row = make_delivery(workspace, "https://receiver.example/")
    Delivery.objects.filter(pk=row.pk).update(status="dead_letter", due_at=None)
    BillingAlarm.objects.create(kind="books", subject=f"{workspace.id} 2027-03", detail="The month differs.")
    BillingAlarm.objects.create(kind="customer", subject="over", detail="It was.", resolved_at=NOON)
    beat_heartbeat()
    result = operator.get("/ops/status").json()

    assert (result["dead_letters"], result["accounts_needing_reauth"], result["ledger_drift_months"]) == (1, 1, 1)
    assert [(each["kind"], each["detail"]) for each in result["billing_alarms"]] == [("books", "The month differs.")]
    assert result["periodic"] == {"beat_at": "2027-03-10T12:00:00Z", "beat_alive": True, "retention_at": None}


def test_a_beat_without_a_heartbeat_for_minutes_is_not_alive(operator: ApiClient) -> None:
    beat(status.BEAT, at=NOON - timedelta(minutes=3))

    assert operator.get("/ops/status").json()["periodic"]["beat_alive"] is False


def test_billing_problems_do_not_make_readyz_fail(workspace: Workspace) -> None:
    beat("publish", "deliver")
    BillingAlarm.objects.create(kind="reconciliation", detail="The processor does not answer.")
    UsageReport.objects.create(
        entry_id="use_1",
        workspace_id=workspace.id,
        month=NOON.date().replace(day=1),
        cents=5,
        settled_at=NOON,
        due_at=NOON - timedelta(hours=1),
    )

    answer = ApiClient().get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["oldest_due_seconds"] == {"publish": 0, "deliver": 0}
