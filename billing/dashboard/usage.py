"""The dashboard's usage page: a month's usage by day, platform and agent, caps, subscription, and CSV of the charges."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from auditlog.csv_export import stream_queryset_as_csv
from billing import selectors, services, usage_selectors
from billing.caps import UtcMonth, first_day_of_utc_month
from billing.dashboard.charts import BudgetBar, day_bars, percent_of
from billing.models import CORRECTION_PLATFORM, BillingAlarm
from billing.subscription_plans import billing_mode, offered_subscription_plans
from billing.usage_selectors import MonthBill, MonthUsage
from workspaces.dashboard.forms import MonthlyCapsForm
from workspaces.services import update_caps
from workspaces.workspace_page import WorkspacePage, workspace_page

MAX_AGENTS_SHOWN = 50
CHARGE_COLUMNS = ("id", "day", "platform", "agent_id", "target_id", "kind", "cents", "url_posts", "created_at")
PLAN_NAMES = {"payg": _("Pay as you go"), "pro": "Pro", "scale": "Scale"}
# The name and the meaning of each of the processor's subscription statuses, for the owner.
SUBSCRIPTION_STATUSES = {
    "active": (_("Active"), _("It pays for usage beyond the free credit.")),
    "trialing": (_("Trial period"), _("It is in its trial period and pays for usage beyond the free credit.")),
    "past_due": (_("Past due"), _("Its last payment failed and will be tried again.")),
    "unpaid": (_("Unpaid"), _("Its payments failed and are not tried again, so it pays for nothing.")),
    "paused": (_("Paused"), _("It is paused and pays for nothing.")),
    "incomplete": (_("Not paid yet"), _("Its first payment was not made, so it pays for nothing yet.")),
    "incomplete_expired": (_("Never paid"), _("Its first payment was never made.")),
    "canceled": (_("Ended"), _("It has ended.")),
}
# The alarms that the owner can resolve.
ALARM_KINDS_SHOWN_TO_OWNERS = (BillingAlarm.Kind.SUBSCRIPTIONS, BillingAlarm.Kind.USAGE_WAITS)


@workspace_page()
def show_usage(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show the workspace's usage and bill in the requested month, by default the current one."""
    return _render_usage(page, MonthlyCapsForm(workspace=page.workspace))


@workspace_page("POST", operation="workspaces.update_caps")
def change_caps(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: change the workspace's monthly caps from the usage page."""
    form = MonthlyCapsForm(page.request.POST, workspace=page.workspace)
    if not form.is_valid():
        return _render_usage(page, form, status=422)
    update_caps(caller=page.caller, workspace_id=page.workspace.id, **form.caps)
    return page.success_redirect(gettext("The caps are saved. They apply from now on."), "usage")


@workspace_page("POST", operation="billing.create_checkout_session")
def redirect_to_checkout(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: redirect from the usage page to the payment processor's checkout page for a plan."""
    plan = page.request.POST.get("plan", "")
    session = services.create_checkout_or_portal_session(caller=page.caller, workspace_id=page.workspace.id, plan=plan)
    return page.redirect(session.url or page.url_of_page("usage"))


@workspace_page("POST", operation="billing.create_portal_session")
def redirect_to_portal(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: redirect from the usage page to the payment processor's page for payment methods and invoices."""
    session = services.create_portal_session(caller=page.caller, workspace_id=page.workspace.id)
    return page.redirect(session.url or page.url_of_page("usage"))


@workspace_page()
def download_month_charges(page: WorkspacePage) -> StreamingHttpResponse:
    """Dashboard page: download the workspace's charges of a month as CSV."""
    at = _requested_month(page)
    rows = usage_selectors.spent_ledger_entries_of_month(caller=page.caller, workspace_id=page.workspace.id, at=at)
    return stream_queryset_as_csv(rows, f"charges-{page.workspace.id}-{at:%Y-%m}", CHARGE_COLUMNS)


def _render_usage(page: WorkspacePage, caps: MonthlyCapsForm, *, status: int = 200) -> HttpResponse:
    at, now = _requested_month(page), timezone.now()
    asked: dict[str, Any] = {"caller": page.caller, "workspace_id": page.workspace.id}
    workspace = page.workspace
    month = usage_selectors.workspace_month_usage(**asked, at=at, cap_cents=workspace.monthly_spend_cap_cents)
    days = usage_selectors.month_usage_by_day(**asked, at=at)
    agents = usage_selectors.usage_by_agent(**asked, at=at, limit=MAX_AGENTS_SHOWN)
    platforms = [each for each in month.totals["by_platform"] if each["platform"] != CORRECTION_PLATFORM]
    spent = sum(each["spend_cents"] for each in platforms)
    return page.render(
        "billing/usage.html",
        status=status,
        caps=caps,
        at=at.date(),
        months=sorted(
            {*usage_selectors.months_with_reservations(**asked), first_day_of_utc_month(now), first_day_of_utc_month(at)},
            reverse=True,
        ),
        is_now=first_day_of_utc_month(at) == first_day_of_utc_month(now),
        spend_cap=month.spend_cap,
        bar=BudgetBar.from_cap_status(month.spend_cap),
        totals=month.totals,
        corrections=usage_selectors.approved_corrections_of_month(**asked, at=at)
        if platforms != month.totals["by_platform"]
        else [],
        days=day_bars(days),
        most_expensive_day=max(days, key=lambda each: each.spend_cents),
        platforms=[(each, percent_of(each["spend_cents"], spent)) for each in platforms],
        agents=[(each, percent_of(each.spend_cents, spent)) for each in agents],
        **_billing_context(page, month, now),
    )


def _billing_context(page: WorkspacePage, month: MonthUsage, now: datetime) -> dict[str, Any]:
    """Return the usage page's template variables for the bill, the subscription, the plans and the open billing alarms."""
    asked: dict[str, Any] = {"caller": page.caller, "workspace_id": page.workspace.id}
    subscription = selectors.subscription_of_workspace(workspace_id=page.workspace.id)
    bill = MonthBill(page.workspace.id, month.period, billing_mode(), month.spend_cap, subscription)
    status_name, status_meaning = SUBSCRIPTION_STATUSES.get(subscription.status if subscription else "", ("", ""))
    pays = subscription is not None and subscription.pays_for_usage_at(now)
    alarms = selectors.unresolved_alarms_of_workspace(**asked, kinds=ALARM_KINDS_SHOWN_TO_OWNERS)
    return {
        "is_paid": bill.mode == "paid",
        "bill": bill.bill_so_far,
        "subscription": subscription,
        "plan": PLAN_NAMES.get(subscription.plan, "") if subscription else "",
        "subscription_status": status_name,
        "subscription_means": status_meaning,
        "pays": pays,
        "grace_ends_at": subscription.grace_period_end if subscription and pays else None,
        "is_running": subscription is not None and subscription.has_started_and_not_ended,
        "plans": [(plan, PLAN_NAMES[plan]) for plan in offered_subscription_plans()],
        "is_unpaid": bill.mode == "paid" and not pays and _free_credit_is_used_up(bill),
        "alarms": {alarm.kind for alarm in alarms},
        "checkout_result": page.request.GET.get("checkout", ""),
    }


def _free_credit_is_used_up(bill: MonthBill) -> bool:
    cap = bill.spend_cap
    return cap.spent_cents + cap.reserved_cents >= cap.free_credit_cents


def _requested_month(page: WorkspacePage) -> datetime:
    """Return the start of the month that the usage page's URL asks for (`?month=2027-03`), by default the current month."""
    return UtcMonth.from_name_or_current(page.request.GET.get("month", "")).start
