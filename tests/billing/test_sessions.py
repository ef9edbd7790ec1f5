"""Tests of POST /billing/checkout-sessions and POST /billing/portal-sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from auditlog.models import AuditEntry
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.in_threads import in_threads
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

CHECKOUT, PORTAL = "/billing/checkout-sessions", "/billing/portal-sessions"
both = pytest.mark.parametrize("path", [CHECKOUT, PORTAL])


def page_of(workspace: Workspace) -> str:
    """Return the URL to which the processor redirects back."""
    return f"https://posts.example.com/dashboard/workspaces/{workspace.id}/usage"


def open_session(client: ApiClient, path: str, workspace: Workspace, **body: Any) -> Any:
    return client.post(path, {"workspace_id": workspace.id, **body})


def test_checkout_creates_a_customer_and_a_session(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    answer = open_session(as_user(owner), CHECKOUT, workspace)

    assert (answer.status_code, answer.json()) == (
        200,
        {"session": {"id": "cs_test_2", "url": "https://checkout.example/cs_test_2"}},
    )
    assert processor.form("/v1/customers") == [{"name": workspace.name, "metadata[workspace_id]": workspace.id}]
    assert processor.form("/v1/checkout/sessions") == [
        {
            "mode": "subscription",
            "customer": "cus_1",
            "client_reference_id": workspace.id,
            "line_items[0][price]": "price_payg",
            "metadata[workspace_id]": workspace.id,
            "metadata[plan]": "payg",
            "subscription_data[metadata][workspace_id]": workspace.id,
            "subscription_data[metadata][plan]": "payg",
            "success_url": f"{page_of(workspace)}?checkout=done",
            "cancel_url": f"{page_of(workspace)}?checkout=cancelled",
        }
    ]
    workspace.refresh_from_db()
    assert workspace.processor_customer_id == "cus_1"


def test_checkout_of_a_plan_includes_the_metered_price(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    open_session(as_user(owner), CHECKOUT, workspace, plan="pro")

    [form] = processor.form("/v1/checkout/sessions")
    assert {name: value for name, value in form.items() if name.startswith("line_items")} == {
        "line_items[0][price]": "price_pro",
        "line_items[0][quantity]": "1",
        "line_items[1][price]": "price_payg",
    }


@pytest.mark.parametrize("state", ["active", "trialing", "past_due", "unpaid", "paused"])
def test_a_subscriber_gets_a_portal_session_instead_of_checkout(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, state: str
) -> None:
    Workspace.objects.update(processor_customer_id="cus_9")
    processor.subscribe("cus_9", state)
    answer = open_session(as_user(owner), CHECKOUT, workspace)

    assert answer.json() == {"session": {"id": "bps_1", "url": "https://portal.example/bps_1"}}
    assert processor.form("/v1/checkout/sessions") == processor.form("/v1/customers") == []


@pytest.mark.parametrize("state", ["incomplete", "incomplete_expired", "canceled"])
def test_an_incomplete_or_ended_subscription_allows_checkout(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, state: str
) -> None:
    Workspace.objects.update(processor_customer_id="cus_9")
    processor.subscribe("cus_9", state)

    assert open_session(as_user(owner), CHECKOUT, workspace).json()["session"]["id"] == "cs_test_1"


def test_a_portal_session_uses_the_stored_customer(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    Workspace.objects.update(processor_customer_id="cus_9")
    answer = open_session(as_user(owner), PORTAL, workspace)

    assert (answer.status_code, answer.json()) == (200, {"session": {"id": "bps_1", "url": "https://portal.example/bps_1"}})
    assert processor.form("/v1/billing_portal/sessions") == [{"customer": "cus_9", "return_url": page_of(workspace)}]


def test_a_portal_session_of_a_new_workspace_creates_its_customer(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    assert open_session(as_user(owner), PORTAL, workspace).status_code == 200

    workspace.refresh_from_db()
    assert workspace.processor_customer_id == "cus_1"


@pytest.mark.usefixtures("wide_outside_share")
@pytest.mark.django_db(transaction=True)
def test_two_concurrent_sessions_create_one_customer(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    answers = in_threads(4, lambda _: open_session(as_user(owner), PORTAL, workspace).status_code)

    assert answers == [200] * 4
    workspace.refresh_from_db()
    assert workspace.processor_customer_id == "cus_1"
    assert {form["customer"] for form in processor.form("/v1/billing_portal/sessions")} == {"cus_1"}


@both
def test_a_dry_run_checks_the_request_without_calling_the_processor(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, path: str
) -> None:
    answer = open_session(as_user(owner), path, workspace, dry_run=True)

    request = {"workspace_id": workspace.id, **({"plan": "payg"} if path == CHECKOUT else {})}
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "dry_run": True,
            "plan_hash": ANY_PLAN_HASH,
            "operation": f"billing.create_{'checkout' if path == CHECKOUT else 'portal'}_session",
            "request": request,
            "would_create": {"id": None, "url": None},
            "unchecked": ["processor"],
        },
    )
    assert processor.requests == ()
    workspace.refresh_from_db()
    assert workspace.processor_customer_id == ""
    assert list(AuditEntry.objects.values_list("dry_run", "outcome")) == [(True, "succeeded")]


@both
@pytest.mark.parametrize("dry_run", [False, True])
def test_without_a_processor_billing_is_unavailable(owner: User, workspace: Workspace, path: str, dry_run: bool) -> None:
    answer = open_session(as_user(owner), path, workspace, dry_run=dry_run)

    body = assert_envelope(answer, 503, "BILLING_UNAVAILABLE")
    assert answer["retry-after"] == "3600"
    assert "GET /capabilities" in body["suggested_action"]


@both
def test_only_a_signed_in_owner_or_admin_is_allowed(
    api: ApiClient,
    workspace: Workspace,
    teammate: User,
    stranger: User,
    agent_client: Callable[..., ApiClient],
    processor: FakePaymentProcessor,
    path: str,
) -> None:
    for client in (api, agent_client()):
        assert_envelope(open_session(client, path, workspace), 403, "USER_SESSION_REQUIRED")
    assert_envelope(open_session(as_user(teammate), path, workspace), 403, "FORBIDDEN")
    refused = assert_envelope(open_session(as_user(stranger), path, workspace), 422, "VALIDATION_FAILED")
    assert [(detail["field"], detail["code"]) for detail in refused["details"]] == [("workspace_id", "not_found")]
    assert processor.requests == ()

    Member.objects.filter(user=teammate).update(role="admin")
    assert open_session(as_user(teammate), path, workspace).status_code == 200


@both
def test_a_paused_workspace_gets_no_session(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, path: str
) -> None:
    Workspace.objects.update(status="paused")

    assert_envelope(open_session(as_user(owner), path, workspace), 403, "WORKSPACE_PAUSED")
    assert processor.requests == ()


@pytest.mark.parametrize("plan", ["scale", "enterprise", "", None, 1])
def test_a_plan_without_a_price_or_a_name_is_refused(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor, plan: Any
) -> None:
    body = assert_envelope(open_session(as_user(owner), CHECKOUT, workspace, plan=plan), 422, "VALIDATION_FAILED")

    assert [detail["field"] for detail in body["details"]] == ["plan"]
    assert processor.requests == ()


@both
@pytest.mark.parametrize("field", ["price", "success_url", "return_url", "customer"])
def test_prices_and_urls_cannot_be_given(owner: User, workspace: Workspace, path: str, field: str) -> None:
    body = assert_envelope(open_session(as_user(owner), path, workspace, **{field: "x"}), 422, "VALIDATION_FAILED")

    assert [(detail["field"], detail["code"]) for detail in body["details"]] == [(field, "unknown_field")]


@both
@pytest.mark.parametrize("broken", [400, 401, 429, True])
def test_a_processor_error_is_billing_unavailable(
    owner: User,
    workspace: Workspace,
    processor: FakePaymentProcessor,
    caplog: pytest.LogCaptureFixture,
    path: str,
    broken: int | bool,
) -> None:
    processor.broken = broken
    answer = open_session(as_user(owner), path, workspace)

    assert_envelope(answer, 503, "BILLING_UNAVAILABLE")
    assert answer["retry-after"] == "30"
    assert list(AuditEntry.objects.values_list("outcome", "code")) == [("refused", "BILLING_UNAVAILABLE")]
    assert processor.key not in caplog.text


def test_a_session_writes_an_audit_entry_without_its_url(
    owner: User, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    open_session(as_user(owner), CHECKOUT, workspace, plan="pro")

    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.outcome, entry.actor_id) == ("billing.create_checkout_session", "succeeded", owner.id)
    assert (entry.resource_type, entry.resource_id, entry.metadata) == ("workspace", workspace.id, {"plan": "pro"})


def test_capabilities_list_plans_with_a_price(api: ApiClient, processor: FakePaymentProcessor, settings: Any) -> None:
    assert api.get("/capabilities").json()["billing"] == {
        "mode": "paid",
        "checkout_available": True,
        "portal_available": True,
        "available_plans": ["payg", "pro"],
    }
    settings.STRIPE_PRICES = {"payg": "", "pro": "", "scale": ""}
    assert api.get("/capabilities").json()["billing"] == {
        "mode": "paid",
        "checkout_available": False,
        "portal_available": True,
        "available_plans": [],
    }


def test_prices_without_a_key_offer_nothing(api: ApiClient, settings: Any) -> None:
    settings.STRIPE_PRICES = {"payg": "price_payg", "pro": "", "scale": ""}

    assert api.get("/capabilities").json()["billing"] == {
        "mode": "free_beta",
        "checkout_available": False,
        "portal_available": False,
        "available_plans": [],
    }


def test_each_workspace_is_its_own_customer(owner: User, workspace: Workspace, processor: FakePaymentProcessor) -> None:
    other = factories.WorkspaceFactory.create(owner_user=owner, processor_customer_id="cus_other")
    open_session(as_user(owner), PORTAL, other)
    open_session(as_user(owner), PORTAL, workspace)

    assert [form["customer"] for form in processor.form("/v1/billing_portal/sessions")] == ["cus_other", "cus_2"]
