"""Dry runs return what the call would do and change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing.models import DayCounter, LedgerEntry, MonthCounter
from config.api.models import IdempotencyRecord
from posts.models import PostGroup, PostTarget
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.posts.rows import TOMORROW, body_for, create
from webhooks.models import Event
from workspaces.models import Workspace


def written() -> list[int]:
    models = (PostGroup, PostTarget, LedgerEntry, MonthCounter, DayCounter, Event, IdempotencyRecord)
    return [model._default_manager.count() for model in models]


def test_a_dry_run_returns_the_plan_and_writes_only_an_audit_entry(
    api: ApiClient, account: ConnectedAccount, telegram_account: ConnectedAccount, clock: Any
) -> None:
    body = body_for(account, telegram_account, scheduled_at=TOMORROW, metadata={"a": "b"})
    answer = api.post("/posts", {**body, "dry_run": True}, idempotency_key="k")

    assert answer.status_code == 201
    preview = answer.json()
    target: dict[str, Any] = {"text": None, "options": {}}
    time = {"scheduled_at": TOMORROW, "slot": False}
    assert preview.pop("validation")["valid"] is True
    assert preview.pop("plan_hash").startswith("sha256:")
    assert preview == {
        "dry_run": True,
        "operation": "posts.create",
        "request": {
            "workspace_id": account.workspace_id,
            "text": "Hello",
            "targets": [{**target, "text": None} for target in body["targets"]],
            "scheduled_at": TOMORROW,
            "metadata": {"a": "b"},
        },
        "would_create": {
            "status": "scheduled",
            "targets": [
                {"platform": "bluesky", "connected_account_id": account.id, "cost_cents": 0, **target, **time},
                {"platform": "telegram", "connected_account_id": telegram_account.id, "cost_cents": 1, **target, **time},
            ],
            "cost_cents": 1,
        },
        "spend_cap": {
            "cap_cents": 0,
            "free_credit_cents": 100,
            "spent_cents": 0,
            "reserved_cents": 1,
            "remaining_cents": 99,
            "exceeded": False,
        },
    }
    assert written() == [0] * 7
    entry = AuditEntry.objects.get(operation="posts.create")
    assert (entry.dry_run, entry.outcome, entry.resource_id) == (True, "succeeded", "")


@pytest.mark.parametrize(
    ("fields", "status"), [({}, "publishing"), ({"draft": True}, "draft"), ({"scheduled_at": TOMORROW}, "scheduled")]
)
def test_a_dry_run_shows_the_status_that_the_call_would_set(
    api: ApiClient, telegram_account: ConnectedAccount, clock: Any, fields: dict[str, Any], status: str
) -> None:
    body = body_for(telegram_account, **fields)
    preview = api.post("/posts?dry_run=true", body).json()

    group = api.post("/posts", body).json()["post_group"]

    assert preview["would_create"]["status"] == group["status"] == status
    assert preview["would_create"]["cost_cents"] == group["cost_cents"] == 1
    assert preview["spend_cap"]["reserved_cents"] == LedgerEntry.objects.filter(kind="hold").count()


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"text": ""}, 422, "CONTENT_INVALID"),
        ({"scheduled_at": "2027-03-10T11:00:00Z"}, 422, "VALIDATION_FAILED"),
        ({"webhook_url": "https://10.0.0.1/"}, 422, "WEBHOOK_URL_NOT_ALLOWED"),
        ({"text": "over the cap"}, 402, "SPEND_CAP_EXCEEDED"),
    ],
)
def test_a_dry_run_is_refused_as_the_call_would_be(
    api: ApiClient,
    workspace: Workspace,
    telegram_account: ConnectedAccount,
    clock: Any,
    fields: dict[str, Any],
    status: int,
    code: str,
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)
    body = body_for(telegram_account) | fields

    previewed = assert_envelope(api.post("/posts", {**body, "dry_run": True}), status, code)
    called = assert_envelope(api.post("/posts", body), status, code)

    assert {**previewed, "trace_id": ""} == {**called, "trace_id": ""}
    refusals = AuditEntry.objects.filter(code=code).order_by("id").values_list("dry_run", flat=True)
    assert list(refusals) == [True, False]


def test_contradicting_dry_run_in_body_and_query_is_refused(api: ApiClient, account: ConnectedAccount) -> None:
    answer = api.post("/posts?dry_run=false", body_for(account, dry_run=True))

    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "dry_run"
    assert not PostGroup.objects.exists()


def test_a_dry_run_with_a_used_idempotency_key_is_not_replayed(api: ApiClient, account: ConnectedAccount) -> None:
    body = body_for(account)
    api.post("/posts", body, idempotency_key="k")

    answer = api.post("/posts", {**body, "dry_run": True}, idempotency_key="k")

    assert answer.json()["dry_run"] is True
    assert "idempotency-replayed" not in answer
    assert PostGroup.objects.count() == 1


def test_cancelling_and_retrying_have_dry_runs(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    scheduled = create(api, account, scheduled_at=TOMORROW)
    before = written()

    answer = api.delete(f"/posts/{scheduled['id']}?dry_run=true")

    preview = answer.json()
    assert (answer.status_code, preview["operation"], preview["request"]) == (200, "posts.cancel", {})
    assert (preview["would_update"]["status"], preview["would_update"]["targets"][0]["status"]) == ("cancelled", "cancelled")
    assert written() == before
    assert api.get(f"/posts/{scheduled['id']}").json()["post_group"] == scheduled
