"""The admin tables of billing: ledger, usage counters, corrections, payment events, subscriptions, usage reports, alarms."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from billing import services
from billing.models import (
    BillingAlarm,
    Correction,
    DayCounter,
    LedgerEntry,
    MonthCounter,
    ProcessorEvent,
    Subscription,
    UsageReport,
    UsageTotal,
)
from config.pages.admin import ReadOnlyAdmin, WaitingJobFilter
from config.pages.admin_actions import requires_confirmation, signed_in_operator_caller


def _by_agent(agent_id: str) -> Q:
    """Return the filter for the usage totals of one agent, for the agent filter of the billing admin.

    It also names the agent's workspace, so that the database can use its index.
    """
    return Q(workspace_id__in=Agent.objects.filter(pk=agent_id).values("workspace_id"), agent_id=agent_id)


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "cents", "platform", "target_id", "round", "workspace_id", "agent_id", "month")
    indexed_lookups = {"tgt": "target_id", "cor": "target_id"}
    unindexed_lookups = {"wrk": "workspace_id", "agt": "agent_id"}


@admin.register(MonthCounter)
class MonthCounterAdmin(ReadOnlyAdmin):
    list_display = ("holder_id", "month", "held_cents", "settled_cents", "url_posts")
    indexed_lookups = {"wrk": "holder_id", "agt": "holder_id"}


@admin.register(DayCounter)
class DayCounterAdmin(ReadOnlyAdmin):
    list_display = ("agent_id", "day", "targets")
    indexed_lookups = {"agt": "agent_id"}


@admin.register(UsageTotal)
class UsageTotalAdmin(ReadOnlyAdmin):
    list_display = ("workspace_id", "agent_id", "month", "platform", "published", "failed", "url_posts", "spend_cents")
    indexed_lookups = {"wrk": "workspace_id", "agt": _by_agent}


@admin.register(Correction)
class CorrectionAdmin(ReadOnlyAdmin):
    """The admin table of billing corrections, proposed on a workspace's statement and approved or withdrawn in this table."""

    list_display = ("id", "workspace_id", "month", "cents", "reason", "status", "proposed_by", "expires_at", "decided_by")
    list_filter = ("status",)
    indexed_lookups = {"wrk": "workspace_id"}
    actions = ("approve", "withdraw")

    @admin.action(description=_("Approve"), permissions=["operate"])
    @requires_confirmation(
        _(
            "The credits and charges are added to the customers' usage for good. What was reported beyond the free credit is "
            "corrected at the payment processor in the running billing period."
        )
    )
    def approve(self, request: HttpRequest, queryset: QuerySet[Correction]) -> None:
        caller = signed_in_operator_caller(request)
        self.run_action_for_each_row(
            request,
            queryset,
            "ops.approve_correction",
            lambda correction: services.approve_correction(caller=caller, correction_id=correction.pk),
            gettext("Approved"),
        )

    @admin.action(description=_("Withdraw or reject"), permissions=["operate"])
    @requires_confirmation(_("These corrections can no longer be approved. No money changes."))
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Correction]) -> None:
        caller = signed_in_operator_caller(request)
        self.run_action_for_each_row(
            request,
            queryset,
            "ops.withdraw_correction",
            lambda correction: services.withdraw_correction(caller=caller, correction_id=correction.pk),
            gettext("Withdrawn"),
        )


@admin.register(ProcessorEvent)
class ProcessorEventAdmin(ReadOnlyAdmin):
    list_display = ("event_id", "type", "outcome", "attempts", "received_at", "processed_at", "due_at")
    list_filter = ("outcome", WaitingJobFilter)
    ordering = ("-received_at",)
    search_fields = ("event_id__exact", "type__exact")
    secrets = ("payload",)  # may contain personal data


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnlyAdmin):
    list_display = (
        "workspace_id",
        "plan",
        "status",
        "status_since",
        "current_period_end",
        "customer_id",
        "subscription_id",
        "updated_at",
        "closed_at",
    )
    list_filter = ("plan",)
    indexed_lookups = {
        "wrk": "pk",
        "cus": "customer_id",
        "sub": "subscription_id",
    }  # the table has one row for each workspace


@admin.register(UsageReport)
class UsageReportAdmin(ReadOnlyAdmin):
    list_display = (
        "entry_id",
        "workspace_id",
        "month",
        "cents",
        "status",
        "settled_at",
        "sent_at",
        "attempts",
        "unknown_since",
        "due_at",
        "last_error",
    )
    list_filter = ("status", WaitingJobFilter)
    id_prefix = "use"
    unindexed_lookups = {"wrk": "workspace_id", "cus": "customer_id"}


@admin.register(BillingAlarm)
class BillingAlarmAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject", "detail", "first_seen_at", "last_seen_at", "resolved_at")
    list_filter = ("kind", ("resolved_at", admin.EmptyFieldListFilter))
    ordering = ("-last_seen_at",)
    search_fields = ("subject",)
