"""PAYMENT_METHOD_REQUIRED: in paid mode, spending beyond the free credit needs a paying subscription."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction
from pytest_django import DjangoAssertNumQueries, Settings

from billing import selectors, services
from billing.errors import PaymentMethodRequired
from billing.models import Subscription
from posts.models import PostGroup, PostTarget
from tests import factories
from tests.billing.holds import hold_costs
from tests.billing.processor_events import event, send
from tests.billing.rows import MARCH, charges, make_agent, make_workspace, month_of
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.in_threads import in_threads
from tests.statements import statements
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
WORDS = (
    "This needs 1 cent; the workspace has 0 of its free credit of 3 left in 2027-03 (spent 0, reserved 3), "
    "and no subscription that pays for more."
)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """A workspace with three cents of free credit, a cap of 100 cents and a customer id."""
    fields = {"free_monthly_credit_cents": 3, "monthly_spend_cap_cents": 100, "processor_customer_id": "cus_9"}
    Workspace.objects.filter(pk=workspace.pk).update(**fields)
    workspace.refresh_from_db()
    return workspace


@pytest.fixture
def account(workspace: Workspace) -> Any:
    """An account whose posts cost one cent."""
    return factories.AccountFactory.create(workspace=workspace, sandbox=False)


def body_for(account: Any, **fields: Any) -> dict[str, Any]:
    target = {"platform": account.platform, "connected_account_id": account.id}
    return {"text": "Hello", "targets": [target], "scheduled_at": "2027-03-25T12:00:00Z", **fields}


def spend(api: ApiClient, account: Any, times: int = 3) -> None:
    for _ in range(times):
        assert api.post("/posts", body_for(account)).status_code == 201


def send_and_process(processor: FakePaymentProcessor, status: str) -> None:
    live = processor.subscriptions.get("sub_1") or processor.subscribe("cus_9", status)
    live["status"] = status
    send(event("customer.subscription.updated", live))
    services.process_due_events()


def test_beyond_the_free_credit_every_spending_operation_needs_a_payment_method(
    api: ApiClient, account: Any, processor: FakePaymentProcessor
) -> None:
    draft = api.post("/posts", body_for(account, draft=True)).json()["post_group"]
    scheduled = api.post("/posts", body_for(account)).json()["post_group"]
    spend(api, account, 2)

    other = factories.AccountFactory.create(workspace=account.workspace, sandbox=False)
    wider = body_for(account)["targets"] + body_for(other)["targets"]
    for dry_run in (True, False):
        refused = [
            api.post("/posts", body_for(account, dry_run=dry_run)),
            api.post("/posts/batch", {"posts": [body_for(account)], "dry_run": dry_run}),
            api.post(f"/posts/{draft['id']}/confirm", {"content_version": 1, "dry_run": dry_run}),
        ]
        for answer in refused:
            body = assert_envelope(answer, 402, "PAYMENT_METHOD_REQUIRED")
            assert body["message"] == WORDS
            assert "POST /billing/checkout-sessions" in body["suggested_action"]
        edited = api.request("PATCH", f"/posts/{scheduled['id']}", {"targets": wider, "dry_run": dry_run})
        assert assert_envelope(edited, 402, "PAYMENT_METHOD_REQUIRED")["message"].startswith(
            "This needs 2 cents; the workspace has 1 of its free credit of 3 left in 2027-03 (spent 0, reserved 2)"
        )

    send_and_process(processor, "active")
    assert api.post("/posts", body_for(account, dry_run=True)).status_code == 201
    spend(api, account, 5)


def test_retrying_a_failed_target_needs_a_payment_method(
    api: ApiClient, workspace: Workspace, account: Any, processor: FakePaymentProcessor
) -> None:
    group = api.post("/posts", body_for(account)).json()["post_group"]
    target = group["targets"][0]["id"]
    with transaction.atomic():
        services.release_holds(target_ids=[target], failed=True)
    PostTarget.objects.filter(pk=target).update(status="failed", due_at=None)
    PostGroup.objects.filter(pk=group["id"]).update(status="failed")
    spend(api, account)

    for dry_run in (True, False):
        answer = api.post(f"/posts/{group['id']}/retry", {"dry_run": dry_run})
        assert assert_envelope(answer, 402, "PAYMENT_METHOD_REQUIRED")["message"] == WORDS


@pytest.mark.parametrize(
    ("status", "pays"),
    [
        ("active", True),
        ("trialing", True),
        ("past_due", True),
        ("unpaid", False),
        ("paused", False),
        ("canceled", False),
        ("incomplete", False),
        ("incomplete_expired", False),
        ("a status of next year", False),
    ],
)
def test_only_a_paying_subscription_allows_paid_usage(
    api: ApiClient, account: Any, processor: FakePaymentProcessor, status: str, pays: bool
) -> None:
    send_and_process(processor, status)
    spend(api, account)

    answer = api.post("/posts", body_for(account))

    if pays:
        assert answer.status_code == 201
    else:
        assert_envelope(answer, 402, "PAYMENT_METHOD_REQUIRED")


def test_a_failed_payment_allows_paid_usage_during_the_grace_period(
    api: ApiClient, account: Any, processor: FakePaymentProcessor, settings: Settings, clock: time_machine.Traveller
) -> None:
    settings.PAST_DUE_GRACE_DAYS = 3
    send_and_process(processor, "active")
    clock.shift(timedelta(days=1))
    send_and_process(processor, "past_due")
    clock.shift(timedelta(days=2, hours=23))
    spend(api, account, 4)
    send_and_process(processor, "past_due")  # sent again; the grace period does not restart
    clock.shift(timedelta(hours=1))

    assert_envelope(api.post("/posts", body_for(account)), 402, "PAYMENT_METHOD_REQUIRED")


def test_the_spend_cap_is_checked_before_the_payment_method(
    api: ApiClient, account: Any, processor: FakePaymentProcessor
) -> None:
    Workspace.objects.update(monthly_spend_cap_cents=0)
    spend(api, account)

    for dry_run in (True, False):
        assert_envelope(api.post("/posts", body_for(account, dry_run=dry_run)), 402, "SPEND_CAP_EXCEEDED")
        batch = {"posts": [body_for(account, scheduled_at="2027-04-11T12:00:00Z")] * 4 + [body_for(account)]}
        answer = api.post("/posts/batch", {**batch, "dry_run": dry_run})
        assert_envelope(answer, 402, "SPEND_CAP_EXCEEDED")


def test_a_batch_checks_all_spend_caps_before_the_payment_method(processor: FakePaymentProcessor) -> None:
    workspace = make_workspace(free=10, cap=10)
    april = MARCH.replace(month=4)

    with pytest.raises(Exception, match="This needs 30 cents") as refusal:
        selectors.check_charges_against_caps_by_due_time(
            workspace_id=workspace.pk,
            agent_id=None,
            parts=[(MARCH, charges("tgt_1", cents=15)), (april, charges("tgt_2", cents=30))],
        )
    assert getattr(refusal.value, "code", None) == "SPEND_CAP_EXCEEDED"


def test_free_beta_needs_no_payment_method(api: ApiClient, account: Any) -> None:
    spend(api, account, 5)

    assert api.get("/capabilities").json()["billing"] == {
        "mode": "free_beta",
        "checkout_available": False,
        "portal_available": False,
        "available_plans": [],
    }


def test_sandbox_posts_need_no_payment_method(api: ApiClient, account: Any, processor: FakePaymentProcessor) -> None:
    spend(api, account)

    assert api.post("/posts", body_for(account, sandbox=True)).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_forty_concurrent_holds_do_not_exceed_the_free_credit(processor: FakePaymentProcessor) -> None:
    workspace = make_workspace(free=25, cap=1000)
    agent = make_agent(workspace)

    def hold(n: int) -> str:
        try:
            with transaction.atomic():
                hold_costs(
                    workspace_id=workspace.pk,
                    agent_id=agent.pk if n % 2 else None,
                    charges=charges(f"tgt_{n}", cents=5),
                    due=MARCH,
                )
            return "done"
        except PaymentMethodRequired:
            return "asked"

    ends = in_threads(40, hold)

    assert (ends.count("done"), ends.count("asked")) == (5, 35)
    assert month_of(workspace) == (25, 0, 0)
    assert selectors.find_wrong_month_counters() == []


def test_a_hold_in_paid_mode_needs_one_more_query(
    processor: FakePaymentProcessor, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    workspace = make_workspace(cap=1000)
    Subscription.objects.create(workspace_id=workspace.pk, status="active")
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_0"), due=MARCH)

    with django_assert_num_queries(statements(sqlite=7, postgresql=6)):  # caps, subscription, earlier rounds, month, ledger
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
