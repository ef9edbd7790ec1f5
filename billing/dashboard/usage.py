"""Usage and billing: a month by day, platform and agent, the caps, and the way to the payment processor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone

from auditlog.csv_export import csv_response
from billing import entitlement, selectors, services
from billing.caps import Period, month_of
from billing.dashboard.drawings import BudgetBar, day_bars, share_of
from billing.models import BillingAlarm, Subscription
from billing.plans import available_plans, billing_mode
from billing.selectors import Bill, Usage
from workspaces.dashboard.forms import CapsForm
from workspaces.frame import WorkspacePage, workspace_page
from workspaces.services import update_caps

MOST_AGENTS = 50
YEARS = range(2000, 2201)
CHARGE_COLUMNS = ("id", "day", "platform", "agent_id", "target_id", "kind", "cents", "url_posts", "created_at")
PLANS = {"payg": "Pay as you go", "pro": "Pro", "scale": "Scale"}
# What the processor's word for a subscription means to who pays.
SUBSCRIPTION_STATES = {
    "active": "It pays for what goes beyond the free credit.",
    "trialing": "It is on trial, and pays for what goes beyond the free credit.",
    "past_due": "Its last payment failed, and is tried again.",
    "unpaid": "Its payments failed and are not tried again, so it pays for nothing.",
    "paused": "It is paused, and pays for nothing.",
    "incomplete": "Its first payment was not made, so it pays for nothing yet.",
    "incomplete_expired": "Its first payment was never made.",
    "canceled": "It has ended.",
}
# The alarms that the owner can do something about.
FOR_THE_OWNER = (BillingAlarm.Kind.SUBSCRIPTIONS, BillingAlarm.Kind.USAGE_WAITS)


@workspace_page()
def usage(page: WorkspacePage) -> HttpResponse:
    """The month that is asked for, else this one."""
    return _usage(page, CapsForm(workspace=page.workspace))


@workspace_page("POST", operation="workspaces.update_caps")
def caps(page: WorkspacePage) -> HttpResponse:
    """Other caps."""
    form = CapsForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _usage(page, form, status=422)
    update_caps(caller=page.caller, workspace_id=page.workspace.id, **form.caps)
    return page.done("The caps are saved. They hold for what comes next.", "usage")


@workspace_page("POST", operation="billing.create_checkout_session")
def checkout(page: WorkspacePage) -> HttpResponse:
    """On to the processor's page for subscribing to the `plan`."""
    plan = page.request.POST.get("plan", "")
    session = services.create_checkout_session(caller=page.caller, workspace_id=page.workspace.id, plan=plan)
    return page.go(session.url or page.path("usage"))


@workspace_page("POST", operation="billing.create_portal_session")
def portal(page: WorkspacePage) -> HttpResponse:
    """On to the processor's page for payment methods, invoices and the subscription."""
    session = services.create_portal_session(caller=page.caller, workspace_id=page.workspace.id)
    return page.go(session.url or page.path("usage"))


@workspace_page()
def charges(page: WorkspacePage) -> StreamingHttpResponse:
    """The month's charges as a file."""
    at = _asked_month(page)
    rows = selectors.charges_of(caller=page.caller, workspace_id=page.workspace.id, at=at)
    return csv_response(rows, f"charges-{page.workspace.id}-{at:%Y-%m}", CHARGE_COLUMNS)


def _usage(page: WorkspacePage, caps: CapsForm, *, status: int = 200) -> HttpResponse:
    at, now = _asked_month(page), timezone.now()
    asked: dict[str, Any] = {"caller": page.caller, "workspace_id": page.workspace.id}
    workspace = page.workspace
    month = selectors.usage_of(**asked, at=at, cap_cents=workspace.monthly_spend_cap_cents)
    days = selectors.usage_by_day(**asked, at=at)
    agents = selectors.usage_by_agent(**asked, at=at, limit=MOST_AGENTS)
    spent = month.totals["spend_cents"]
    return page.render(
        "billing/usage.html",
        status=status,
        caps=caps,
        at=at.date(),
        months=sorted({*selectors.months_of(**asked), month_of(now), month_of(at)}, reverse=True),
        is_now=month_of(at) == month_of(now),
        standing=month.spend_cap,
        bar=BudgetBar.of(month.spend_cap),
        totals=month.totals,
        days=day_bars(days),
        dearest=max(days, key=lambda each: each.spend_cents),
        platforms=[(each, share_of(each["spend_cents"], spent)) for each in month.totals["by_platform"]],
        agents=[(each, share_of(each.spend_cents, spent)) for each in agents],
        **_billing(page, month, now),
    )


def _billing(page: WorkspacePage, month: Usage, now: datetime) -> dict[str, Any]:
    """How the workspace stands with the processor, and what its owner has to see to."""
    asked: dict[str, Any] = {"caller": page.caller, "workspace_id": page.workspace.id}
    subscription = selectors.subscription_of(workspace_id=page.workspace.id)
    bill = Bill(page.workspace.id, month.period, billing_mode(), month.spend_cap, subscription)
    pays = subscription is not None and subscription.entitles(now)
    alarms = selectors.open_alarms_of(**asked, kinds=FOR_THE_OWNER)
    return {
        "is_paid": bill.mode == "paid",
        "bill": bill.projected_bill,
        "subscription": subscription,
        "plan": PLANS.get(subscription.plan, "") if subscription else "",
        "subscription_means": SUBSCRIPTION_STATES.get(subscription.status, "") if subscription else "",
        "pays": pays,
        "pays_until": _end_of_grace(subscription) if pays else None,
        "runs": subscription is not None and subscription.is_running,
        "plans": [(plan, PLANS[plan]) for plan in available_plans()],
        "is_unpaid": bill.mode == "paid" and not pays and _free_credit_is_used_up(bill),
        "alarms": {alarm.kind for alarm in alarms},
        "came_back": page.request.GET.get("checkout", ""),
    }


def _free_credit_is_used_up(bill: Bill) -> bool:
    standing = bill.spend_cap
    return standing.spent_cents + standing.reserved_cents >= standing.free_credit_cents


def _end_of_grace(subscription: Subscription | None) -> datetime | None:
    """Until when a subscription whose last payment failed still pays."""
    if subscription is None or subscription.status != entitlement.PAST_DUE or subscription.status_since is None:
        return None
    return subscription.status_since + timedelta(days=settings.PAST_DUE_GRACE_DAYS)


def _asked_month(page: WorkspacePage) -> datetime:
    """The first instant of the UTC month in the query (`month=2027-03`); of this month where there is no such month."""
    try:
        asked = datetime.strptime(page.request.GET.get("month", ""), "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        return Period.around(timezone.now()).start
    return asked if asked.year in YEARS else Period.around(timezone.now()).start
