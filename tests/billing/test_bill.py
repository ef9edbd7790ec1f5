"""Tests of GET /billing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction

from billing import services
from tests.billing.holds import hold_costs
from tests.billing.rows import MARCH, charges
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace


def bill(client: ApiClient, workspace: Workspace, **query: Any) -> Any:
    asked = {
        "workspace_id": workspace.id,
        "period_start": "2027-03-15T00:00:00Z",
        "workspace_monthly_spend_cap_cents": 300,
        **query,
    }
    return client.get(f"/billing?{urlencode({name: value for name, value in asked.items() if value is not None})}")


@pytest.fixture
def spent(workspace: Workspace) -> Workspace:
    """A workspace with 150 cents spent and 20 held, of a free credit of 200."""
    Workspace.objects.update(free_monthly_credit_cents=200)
    with transaction.atomic():
        wanted = [*charges("tgt_1", cents=150), *charges("tgt_2", cents=20)]
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=wanted, due=MARCH)
        services.settle_holds_as_spent(target_ids=["tgt_1"])
    return workspace


def test_the_bill_is_the_usage_beyond_the_free_credit(api: ApiClient, spent: Workspace) -> None:
    assert bill(api, spent).json() == {
        "workspace_id": spent.id,
        "period_start": "2027-03-01T00:00:00Z",
        "period_end": "2027-04-01T00:00:00Z",
        "mode": "free_beta",
        "projected_bill": {"usage_cents": 150, "free_credit_cents": 100, "amount_due_cents": 50, "currency": "USD"},
        "spend_cap": {
            "cap_cents": 300,
            "free_credit_cents": 100,
            "spent_cents": 150,
            "reserved_cents": 20,
            "remaining_cents": 230,
            "exceeded": False,
        },
        "subscription": None,
    }


@pytest.mark.parametrize(("free", "due", "exceeded"), [(0, 150, True), (149, 1, True), (150, 0, True), (500, 0, False)])
def test_free_credit_and_cap_in_the_query_replace_the_stored_ones(
    api: ApiClient, spent: Workspace, free: int, due: int, exceeded: bool
) -> None:
    body = bill(api, spent, free_credit_cents=free, workspace_monthly_spend_cap_cents=0).json()

    assert body["projected_bill"]["free_credit_cents"] == body["spend_cap"]["free_credit_cents"] == free
    assert body["projected_bill"]["amount_due_cents"] == due
    assert body["spend_cap"]["exceeded"] is exceeded
    spent.refresh_from_db()
    assert (spent.free_monthly_credit_cents, spent.monthly_spend_cap_cents) == (200, 0)


def test_a_configured_payment_processor_means_paid_mode(api: ApiClient, workspace: Workspace, settings: Any) -> None:
    settings.STRIPE_SECRET_KEY = "sk_test_1"

    assert bill(api, workspace).json()["mode"] == "paid"


def test_read_access_by_caller(
    workspace: Workspace, teammate: User, stranger: User, key_with: Callable[..., ApiClient]
) -> None:
    for client in (as_user(teammate), key_with("usage.read")):
        assert bill(client, workspace).json()["projected_bill"]["amount_due_cents"] == 0
    assert_envelope(bill(key_with("posts.read"), workspace), 403, "SCOPE_MISSING")
    assert_envelope(bill(as_user(stranger), workspace), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workspace_id", None),
        ("period_start", None),
        ("workspace_monthly_spend_cap_cents", None),
        ("free_credit_cents", "-1"),
        ("free_credit_cents", "x"),
    ],
)
def test_an_invalid_query_is_refused(api: ApiClient, workspace: Workspace, name: str, value: str | None) -> None:
    body = assert_envelope(bill(api, workspace, **{name: value}), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == [name]
