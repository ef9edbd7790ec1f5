"""Concurrent requests with one Idempotency-Key, and requests whose process died or continued too late."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ConnectedAccount
from agents.models import Agent, ApiKey
from auditlog.models import AuditEntry
from config.api import idempotency
from config.api.errors import IdempotencyInProgress
from config.api.idempotency import KeyedRequest, StoredAnswer, run_or_replay_in_transaction, run_slow_request_or_replay
from config.api.models import IdempotencyRecord
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.in_threads import in_threads
from workspaces.models import User, Workspace

seen_by_all_threads = pytest.mark.django_db(transaction=True)
SLIP = idempotency.build_keyed_request(workspace_id="wrk", actor="user:1", operation="a.call", key="1", request=[])


def answer_of(result: str) -> StoredAnswer:
    return StoredAnswer(200, {"result": result})


@seen_by_all_threads
def test_forty_concurrent_requests_create_one_key(api: ApiClient, workspace: Workspace) -> None:
    body = {"workspace_id": workspace.id, "name": "Once", "scopes": ["posts.read"]}
    answers = in_threads(40, lambda n: api.post("/auth/api-keys", {**body, "name": f"{n}"}, idempotency_key="1"))

    assert sorted(answer.status_code for answer in answers) == [200] * 39 + [201]
    assert ApiKey.objects.exclude(name="A key").count() == IdempotencyRecord.objects.count() == 1
    assert AuditEntry.objects.filter(operation="api_keys.create").count() == 1
    assert len({answer.json()["api_key"]["id"] for answer in answers}) == 1
    assert [bool(answer.json()["token"]) for answer in answers].count(True) == 1
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers].count("true") == 39


@seen_by_all_threads
def test_two_keys_can_be_used_concurrently(api: ApiClient, workspace: Workspace, owner: User) -> None:
    body = {"workspace_id": workspace.id, "owner_user_id": owner.id, "scopes": ["posts.read"], "default_mode": "draft"}
    answers = in_threads(20, lambda n: api.post("/agents", {**body, "name": "A"}, idempotency_key=str(n % 2)))

    assert [answer.status_code for answer in answers] == [201] * 20
    assert Agent.objects.count() == 2


@seen_by_all_threads
def test_twelve_concurrent_connections_call_the_platform_once(
    api: ApiClient, workspace: Workspace, settings: Settings
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeBluesky() as pds:
        pds.add_account("alice.test", "abcd-efgh-ijkl-mnop")
        credentials = {"identifier": "alice.test", "app_password": "abcd-efgh-ijkl-mnop", "service": pds.url}
        body = {"workspace_id": workspace.id, "platform": "bluesky", "credentials": credentials}
        answers = in_threads(12, lambda n: api.post("/accounts/connect", body, idempotency_key="1"))

    assert [answer.status_code for answer in answers] == [200] * 12
    assert pds.sessions_created == 1
    assert {answer.json()["account"]["id"] for answer in answers} == {ConnectedAccount.objects.get().id}
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers].count("true") == 11


@pytest.fixture
def died(api: ApiClient, workspace: Workspace, settings: Settings) -> Any:
    """Return a function that connects an account, whose first request died while running, 30 s ago."""
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeBluesky() as pds:
        pds.add_account("alice.test", "abcd-efgh-ijkl-mnop")
        credentials = {"identifier": "alice.test", "app_password": "abcd-efgh-ijkl-mnop", "service": pds.url}
        body = {"workspace_id": workspace.id, "platform": "bluesky", "credentials": credentials}
        api.post("/accounts/connect", body, idempotency_key="1")
        begun = {"answered_at": None, "status": 0, "body": None, "resource_id": ""}
        lease_until = timezone.now() + idempotency.LEASE - timedelta(seconds=30)
        IdempotencyRecord.objects.update(**begun, lease_until=lease_until)
        yield lambda: api.post("/accounts/connect", body, idempotency_key="1")


def test_a_repeat_of_a_running_request_gets_retry_after(died: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.1)
    answer = died()

    assert_envelope(answer, 409, "IDEMPOTENCY_IN_PROGRESS")
    assert answer["retry-after"] == "1"


def test_after_the_lease_a_repeat_takes_over_from_a_dead_process(died: Any) -> None:
    with time_machine.travel(timezone.now() + idempotency.LEASE, tick=False):
        taken_over, again = died(), died()

    assert [answer.status_code for answer in (taken_over, again)] == [200, 200]
    assert "Idempotency-Replayed" not in taken_over.headers
    assert again["Idempotency-Replayed"] == "true"


def stored_body() -> Any:
    """Return the answer to a repeated request."""
    record = run_slow_request_or_replay(SLIP, lambda: "done again", answer_of)
    return record.body if isinstance(record, IdempotencyRecord) else record


@seen_by_all_threads
@pytest.mark.parametrize("fails", [False, True], ids=["it succeeds", "it fails"])
@pytest.mark.parametrize("meanwhile", ["while the other runs", "after the other"])
def test_a_request_that_finishes_after_its_lease_does_not_change_the_record(fails: bool, meanwhile: str) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def first() -> str:
        begun.set()
        assert may_end.wait(10)
        if fails:
            raise ValueError("broken")
        return "the first"

    def in_thread() -> None:
        try:
            run_slow_request_or_replay(SLIP, first, answer_of)
        finally:
            connection.close()

    def second() -> str:
        """A second request that took the key over after the lease expired."""
        if meanwhile == "while the other runs":
            finish_first()
            assert IdempotencyRecord.objects.filter(answered_at=None).count() == 1
        return "the second"

    def finish_first() -> None:
        may_end.set()
        assert isinstance(late.exception(10), ValueError) == fails

    with ThreadPoolExecutor(1) as threads:
        late = threads.submit(in_thread)
        assert begun.wait(10)
        IdempotencyRecord.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert run_slow_request_or_replay(SLIP, second, answer_of) == "the second"
        finish_first()

    assert stored_body() == {"result": "the second"}


def test_work_in_lease_mode_runs_outside_a_transaction(transactional_db: None) -> None:
    assert run_slow_request_or_replay(SLIP, lambda: str(connection.in_atomic_block), answer_of) == "False"
    assert stored_body() == {"result": "False"}


def test_effect_and_record_are_committed_or_rolled_back_together(transactional_db: None) -> None:
    def work() -> str:
        AuditEntry.objects.create(operation="a.call", actor_type="user", actor_id="1", outcome="succeeded")
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run_or_replay_in_transaction(SLIP, work, answer_of)

    assert (AuditEntry.objects.count(), IdempotencyRecord.objects.count()) == (0, 0)
    assert run_or_replay_in_transaction(SLIP, lambda: "done", answer_of) == "done"


@seen_by_all_threads
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets in one writer at a time")
def test_a_repeat_waits_for_another_transaction_at_most_the_lock_timeout() -> None:
    def repeat(ticket: KeyedRequest) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '50ms'")
            run_or_replay_in_transaction(ticket, lambda: "done twice", answer_of)
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as threads:
        run_or_replay_in_transaction(SLIP, lambda: "done", answer_of)
        with pytest.raises(IdempotencyInProgress):
            threads.submit(repeat, SLIP).result(10)
