"""The usage page: subscription, checkout and portal."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from billing.models import BillingAlarm, Subscription
from config.pages.security_headers import FORMS_REDIRECTING_OFFSITE
from tests.billing.rows import MARCH
from tests.billing.test_usage import spend
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import User, Workspace


@pytest.fixture
def pages(processor: FakePaymentProcessor, clock: time_machine.Traveller, workspace: Workspace, owner: User) -> Pages:
    """The owner's pages in March, in paid mode with prices for two of the three plans."""
    return Pages(workspace, owner, csrf=True)


def subscribed(workspace: Workspace, status: str, **fields: Any) -> None:
    Subscription.objects.create(workspace_id=workspace.id, plan="pro", status=status, **fields)


def offered(pages: Pages) -> list[str]:
    """Return the plans that the page offers."""
    return [plan for plan in ("payg", "pro", "scale") if f'value="{plan}"' in pages.get("usage").content.decode()]


def test_without_a_subscription_plans_with_a_price_are_offered(pages: Pages) -> None:
    assert offered(pages) == ["payg", "pro"]
    assert "There is no subscription." in words(pages.get("usage"))


def test_checkout_and_portal_lead_to_the_processor_and_back_to_this_page(
    pages: Pages, processor: FakePaymentProcessor
) -> None:
    token = form_of(pages.get("usage"), pages.address("usage-portal"))
    checkout = pages.post("usage-checkout", {**token, "plan": "pro"})
    portal = pages.post("usage-portal", token)

    assert (checkout.status_code, checkout["Location"]) == (303, "https://checkout.example/cs_test_2")
    assert (portal.status_code, portal["Location"]) == (303, "https://portal.example/bps_3")
    assert FORMS_REDIRECTING_OFFSITE.match(pages.address("usage"))
    back = f"https://posts.example.com{pages.address('usage')}"
    [asked] = processor.form("/v1/checkout/sessions")
    assert asked["success_url"].partition("?")[0] == back
    assert "Thank you." in words(pages.get("usage", query={"checkout": "done"}))
    assert "Nothing has changed." in words(pages.get("usage", query={"checkout": "cancelled"}))


@pytest.mark.parametrize("plan", ["scale", ""])
def test_a_plan_without_a_price_shows_an_error(pages: Pages, plan: str) -> None:
    token = form_of(pages.get("usage"), pages.address("usage-portal"))
    page = pages.post("usage-checkout", {**token, "plan": plan}, follow=True)

    assert "Must be one of payg, pro." in words(page)
    assert AuditEntry.objects.get().code == "VALIDATION_FAILED"


@pytest.mark.parametrize(
    ("status", "said", "plans"),
    [
        ("active", "It pays for usage beyond the free credit.", []),
        ("past_due", "Its last payment failed and will be tried again.", []),
        ("unpaid", "Unpaid Its payments failed", []),
        ("canceled", "Ended It has ended.", ["payg", "pro"]),
        ("something_new", "Something new", ["payg", "pro"]),
    ],
)
def test_the_subscriptions_status_is_explained(
    pages: Pages, workspace: Workspace, status: str, said: str, plans: list[str]
) -> None:
    subscribed(workspace, status)

    shown = words(pages.get("usage"))
    assert "Pro" in shown
    assert said in shown
    assert offered(pages) == plans


def test_a_failed_payment_shows_the_end_of_the_grace_period(pages: Pages, workspace: Workspace, settings: Any) -> None:
    settings.PAST_DUE_GRACE_DAYS = 14
    subscribed(workspace, "past_due", status_since=MARCH - timedelta(days=4))

    assert "the subscription still pays until 20 March 2027" in words(pages.get("usage"))
    Subscription.objects.update(status_since=MARCH - timedelta(days=15))
    assert "the subscription still pays" not in words(pages.get("usage"))


def test_a_used_up_free_credit_asks_the_owner_to_subscribe(pages: Pages, workspace: Workspace) -> None:
    Workspace.objects.update(monthly_spend_cap_cents=100_000)
    said = "The free credit is used up and no subscription pays for more"
    spend(workspace, "tgt_1", cents=99)
    assert said not in words(pages.get("usage"))
    spend(workspace, "tgt_2", cents=1)
    assert said in words(pages.get("usage"))

    subscribed(workspace, "active")
    assert said not in words(pages.get("usage"))
    assert "To be invoiced: $0.00." in words(pages.get("usage"))


def test_alarms_that_the_owner_can_resolve_are_shown(pages: Pages, workspace: Workspace) -> None:
    Kind = BillingAlarm.Kind
    for kind, subject in (
        (Kind.SUBSCRIPTIONS, workspace.id),
        (Kind.USAGE_REFUSED, workspace.id),
        (Kind.USAGE_WAITS, "wrk_x"),
    ):
        BillingAlarm.objects.create(kind=kind, subject=subject, detail="sub_1, sub_2")

    shown = words(pages.get("usage"))
    assert "several subscriptions" in shown
    assert "sub_1" not in shown
    assert "waits to be invoiced" not in shown
    BillingAlarm.objects.update(resolved_at=MARCH)
    assert "several subscriptions" not in words(pages.get("usage"))


def test_members_see_the_subscription_but_no_payment_buttons(
    pages: Pages, workspace: Workspace, teammate: User, processor: FakePaymentProcessor
) -> None:
    theirs = Pages(workspace, teammate)
    page = theirs.get("usage")

    assert "There is no subscription." in words(page)
    for name in ("usage-checkout", "usage-portal"):
        assert not has_form(page, theirs.address(name))
        assert theirs.post(name, {"plan": "pro"})["Location"] == theirs.address("home")
    assert processor.form("/v1/customers") == []


def test_the_page_needs_few_queries_in_paid_mode(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    subscribed(workspace, "active")
    with django_assert_max_num_queries(17):
        pages.get("usage")
