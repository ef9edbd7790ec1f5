"""GET /metrics: counters of all processes of this machine, and gauges from the database."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone
from prometheus_client import Counter, Histogram
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.platforms.errors import report_unknown_error_code
from billing.models import BillingAlarm
from config import metrics
from config.console import status
from config.runtime.worker import MetricsServerStep
from posts.models import PostTarget
from posts.publishing.worker_loop import PublishLoop
from tests.conftest import ApiClient
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, create
from tests.until import wait_until
from tests.webhooks.rows import make_delivery
from webhooks.models import Delivery
from webhooks.sender import AttemptOutcome, DeliveryVerdict
from webhooks.services import deliveries
from workspaces.models import Workspace

Sample = tuple[str, frozenset[tuple[str, str]]]


class Scrape:
    """The metrics of one answer, by name and labels; missing ones are 0."""

    def __init__(self, operator: ApiClient) -> None:
        text = operator.get("/metrics").content.decode()
        samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
        self._values: dict[Sample, float] = {(each.name, frozenset(each.labels.items())): each.value for each in samples}

    def of(self, name: str, **labels: str) -> float:
        return self._values.get((name, frozenset(labels.items())), 0.0)

    def names(self) -> set[str]:
        return {name for name, _ in self._values}


def test_requests_are_timed_by_operation_and_refusals_counted_by_code(
    operator: ApiClient, api: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    before = Scrape(operator)
    Workspace.objects.filter(pk=workspace.pk).update(free_monthly_credit_cents=0)
    ConnectedAccount.objects.filter(pk=account.pk).update(sandbox=False)
    assert api.post("/posts", body_for(account)).status_code == 402
    api.get(f"/agents?workspace_id={workspace.id}")
    after = Scrape(operator)

    def rise(name: str, **labels: str) -> float:
        return after.of(name, **labels) - before.of(name, **labels)

    # Other processes may count meanwhile, so no less than what was done here.
    assert rise("sps_request_seconds_count", operation="agents.list", status="200") >= 1
    assert rise("sps_request_seconds_count", operation="posts.create", status="402") >= 1
    assert rise("sps_refusals_total", code="SPEND_CAP_EXCEEDED") >= 1


def test_outcomes_of_publishing_and_deliveries_are_counted(
    operator: ApiClient, api: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    before = Scrape(operator)
    create(api, account, text="[sandbox:reject] no")
    create(api, account, text="yes")
    run_until_idle()
    row = make_delivery(workspace, "https://receiver.example/")
    (claimed,) = deliveries.claim_deliveries(Delivery.objects.filter(pk=row.pk), limit=1)
    deliveries.record_outcomes_if_still_claimed([(claimed, AttemptOutcome(DeliveryVerdict.DELIVERED, 200))])
    after = Scrape(operator)

    for name, labels in (
        ("sps_publish_outcomes_total", {"platform": "sandbox", "outcome": "published", "code": ""}),
        ("sps_publish_outcomes_total", {"platform": "sandbox", "outcome": "failed", "code": "PLATFORM_REJECTED"}),
        ("sps_delivery_attempts_total", {"outcome": "delivered"}),
    ):
        assert after.of(name, **labels) - before.of(name, **labels) >= 1, (name, labels)


@pytest.mark.django_db(transaction=True)
def test_the_lateness_of_claimed_targets_is_measured(operator: ApiClient, api: ApiClient, account: ConnectedAccount) -> None:
    before = Scrape(operator)
    create(api, account)
    PostTarget.objects.update(due_at=timezone.now() - timedelta(seconds=50))
    duty = PublishLoop()
    duty.start()
    wait_until(PostTarget.objects.filter(status="published").exists)
    duty.stop_and_wait(20)
    after = Scrape(operator)

    def rise(name: str, **labels: str) -> float:
        return after.of(name, platform="sandbox", **labels) - before.of(name, platform="sandbox", **labels)

    assert rise("sps_publish_lateness_seconds_sum") >= 50
    assert rise("sps_publish_lateness_seconds_bucket", le="+Inf") >= 1


def test_unknown_platform_codes_have_their_own_labels_up_to_a_limit(operator: ApiClient) -> None:
    for number in range(metrics.MAX_CODES_PER_PLATFORM + 5):
        report_unknown_error_code("testing", f"400 {number}")
    report_unknown_error_code("hostile", "so long a code that it would be a label of its own " * 3)
    report_unknown_error_code("hostile", 'quoted "words"')
    scrape = Scrape(operator)

    assert scrape.of("sps_platform_unmapped_total", platform="testing", code="400 0") >= 1
    assert scrape.of("sps_platform_unmapped_total", platform="testing", code="other") >= 5
    assert scrape.of("sps_platform_unmapped_total", platform="hostile", code="other") >= 2


def in_another_process(data_dir: Path, work: str) -> str:
    """Run code in another process, which loads only the app that keeps the metrics, and return its output."""
    load = "import django; from django.conf import settings; settings.INSTALLED_APPS = ['config']; django.setup()"
    script = f"{load}; from config import metrics; {work}"
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings", "DATA_DIR": str(data_dir)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=settings.BASE_DIR, env=environment, capture_output=True, timeout=60, check=True
    )
    return done.stdout.decode().strip()


def test_counts_of_ended_processes_remain_until_all_processes_have_ended(operator: ApiClient, tmp_path: Path) -> None:
    count, files = (
        "metrics.count_unknown_platform_error_code('testing', 'elsewhere')",
        "print(len(list(metrics.FOLDER.glob('*.db'))))",
    )
    before = Scrape(operator).of("sps_platform_unmapped_total", platform="testing", code="elsewhere")
    in_another_process(Path(settings.DATA_DIR), count)

    assert Scrape(operator).of("sps_platform_unmapped_total", platform="testing", code="elsewhere") == before + 1
    assert in_another_process(tmp_path, f"{count}; {files}") == "1"
    assert in_another_process(tmp_path, files) == "0"


def test_gauges_are_read_from_the_database_at_each_scrape(operator: ApiClient, workspace: Workspace) -> None:
    rows = [make_delivery(workspace, "https://receiver.example/") for _ in range(2)]
    Delivery.objects.filter(pk=rows[0].pk).update(due_at=timezone.now() - timedelta(seconds=90))
    Delivery.objects.filter(pk=rows[1].pk).update(status="dead_letter", due_at=None)
    BillingAlarm.objects.create(kind="books", subject="one", detail="A month differs.")
    status.record_heartbeat(status.BEAT)
    scrape = Scrape(operator)

    assert scrape.of("sps_database_up") == 1
    assert 90 <= scrape.of("sps_queue_oldest_due_seconds", duty="deliver") < 150
    assert scrape.of("sps_queue_due_rows", duty="deliver") == 1
    assert (scrape.of("sps_dead_letters"), scrape.of("sps_ledger_drift_months")) == (1, 1)
    assert scrape.of("sps_billing_alarms", kind="books") == 1
    assert scrape.of("sps_heartbeat_age_seconds", duty="beat") < 60


def test_the_example_alerts_use_only_existing_metrics(operator: ApiClient) -> None:
    rows = re.findall(r"^# TYPE (\S+)", operator.get("/metrics").content.decode(), re.MULTILINE)
    counters = [each for each in vars(metrics).values() if isinstance(each, Counter | Histogram)]
    existing = {*rows, *(family.name for each in counters for family in each.describe())}
    rules = (Path(settings.BASE_DIR) / "docs" / "alerts.yml").read_text()
    asked = {re.sub("_(total|count|sum|bucket)$", "", name) for name in re.findall(r"\bsps_[a-z_]+", rules)}

    assert len(asked) > 8
    assert asked - {re.sub("_total$", "", name) for name in existing} == set()


def test_counters_are_reported_without_the_database(operator: ApiClient) -> None:
    operator.get("/ops/status")

    def away(*args: Any) -> None:
        raise DatabaseError("The database is away.")

    with connection.execute_wrapper(away):
        scrape = Scrape(operator)

    assert scrape.of("sps_database_up") == 0
    assert scrape.of("sps_request_seconds_count", operation="ops.status", status="200") >= 1
    assert "sps_dead_letters" not in scrape.names()


def test_labels_contain_nothing_that_a_caller_chooses(operator: ApiClient, api: ApiClient, workspace: Workspace) -> None:
    api.get(f"/agents/{workspace.id}/secret-path")
    api.get("/dashboard/sign-in/usr_1/a-token-in-a-path")
    api.request("BREW", "/agents")
    text = operator.get("/metrics").content.decode()

    assert not re.search(r"secret-path|a-token-in-a-path|BREW|" + workspace.id, text)
    assert 'operation="dashboard/sign-in/<str:user_id>/<str:token>"' in text


@pytest.fixture
def worker(settings: Settings, operator: ApiClient) -> Iterator[str]:
    """Start a worker and return the URL of its /metrics."""
    settings.WORKER_METRICS_ADDRESS = "127.0.0.1:0"
    server = MetricsServerStep(None)
    server.start(None)
    yield f"http://127.0.0.1:{server.port}"
    server.stop(None)


@pytest.mark.django_db(transaction=True)
def test_a_worker_serves_the_same_metrics_with_the_same_token(worker: str, operator: ApiClient) -> None:
    def ask(path: str, token: str | None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            with urllib.request.urlopen(urllib.request.Request(worker + path, headers=headers), timeout=10) as answer:  # noqa: S310
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    status, text = ask("/metrics", operator.token)

    assert (status, "sps_database_up 1.0" in text) == (200, True)
    assert (ask("/metrics", None)[0], ask("/ops/status", operator.token)[0]) == (401, 404)
