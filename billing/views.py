"""The API views of usage, bills, checkout and portal sessions, and the payment processor's events."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter

from billing import services, usage_selectors
from billing.serializers import (
    AgentUsageSerializer,
    BillingQuery,
    CheckoutSessionPreview,
    CreateCheckoutSessionSerializer,
    CreatePortalSessionSerializer,
    EventReceivedSerializer,
    MonthBillSerializer,
    PeriodQuery,
    PortalSessionPreview,
    SessionEnvelope,
    UsageQuery,
    UsageSerializer,
)
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.policies import Access, Body
from config.api.views import OperationViewSet


class UsageViewSet(OperationViewSet):
    @operation(
        "usage.get",
        summary="Read a workspace's usage and spend cap in a month",
        access=Access("usage.read"),
        query=UsageQuery,
        responses={200: UsageSerializer},
        errors=("NOT_FOUND",),
    )
    def retrieve(self, call: Call) -> Reply:
        query = call.query
        usage = usage_selectors.workspace_month_usage(
            caller=call.caller,
            workspace_id=query["workspace_id"],
            at=query["period_start"],
            cap_cents=query["workspace_monthly_spend_cap_cents"],
        )
        return Reply(usage)


class AgentUsageViewSet(OperationViewSet):
    @operation(
        "agents.usage",
        summary="Read an agent's usage and its own spend cap in a month",
        access=Access("usage.read"),
        query=PeriodQuery,
        responses={200: AgentUsageSerializer},
        errors=("NOT_FOUND",),
    )
    def retrieve(self, call: Call, agent_id: str) -> Reply:
        return Reply(usage_selectors.agent_month_usage(caller=call.caller, agent_id=agent_id, at=call.query["period_start"]))


class BillingViewSet(OperationViewSet):
    @operation(
        "billing.get",
        summary="Read a workspace's projected bill in a month",
        access=Access("usage.read"),
        query=BillingQuery,
        responses={200: MonthBillSerializer},
        errors=("NOT_FOUND",),
    )
    def retrieve(self, call: Call) -> Reply:
        query = call.query
        bill = usage_selectors.workspace_month_bill(
            caller=call.caller,
            workspace_id=query["workspace_id"],
            at=query["period_start"],
            cap_cents=query["workspace_monthly_spend_cap_cents"],
            free_credit_cents=query["free_credit_cents"],
        )
        return Reply(bill)

    @operation(
        "billing.create_checkout_session",
        summary="Open a page where a workspace subscribes to a plan",
        description="A workspace that has a subscription gets a portal session instead.",
        body=Body(CreateCheckoutSessionSerializer),
        responses={200: SessionEnvelope},
        preview=CheckoutSessionPreview,
        errors=("USER_SESSION_REQUIRED", "FORBIDDEN", "BILLING_UNAVAILABLE"),
    )
    def create_checkout_session(self, call: Call) -> Reply | DryRunReply:
        session = services.create_checkout_or_portal_session(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, session, "would_create", unchecked=["processor"])
        return Reply({"session": session})

    @operation(
        "billing.create_portal_session",
        summary="Open a page where a workspace's payment methods, invoices and subscription are managed",
        body=Body(CreatePortalSessionSerializer),
        responses={200: SessionEnvelope},
        preview=PortalSessionPreview,
        errors=("USER_SESSION_REQUIRED", "FORBIDDEN", "BILLING_UNAVAILABLE"),
    )
    def create_portal_session(self, call: Call) -> Reply | DryRunReply:
        session = services.create_portal_session(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            return DryRunReply(call.data, session, "would_create", unchecked=["processor"])
        return Reply({"session": session})


class ProcessorWebhookViewSet(OperationViewSet):
    """The API view that verifies and stores the webhook events that the payment processor sends."""

    @operation(
        "billing.receive_event",
        summary="Receive an event of the payment processor",
        description="The processor's own header `Stripe-Signature` may be used instead of `Processor-Signature`.",
        access=Access(public=True),
        body=Body(raw=True),
        headers=(
            OpenApiParameter(
                "Processor-Signature",
                str,
                OpenApiParameter.HEADER,
                required=True,
                description="`t=<unix seconds>,v1=<hex>[,v1=<hex>]`: HMAC-SHA256 over `<t>.<raw body>`.",
            ),
        ),
        responses={200: EventReceivedSerializer},
        errors=("SIGNATURE_INVALID", "MALFORMED_REQUEST", "PAYLOAD_TOO_LARGE", "BILLING_UNAVAILABLE"),
    )
    def create(self, call: Call) -> Reply:
        headers = call.request.headers
        signature = headers.get("Processor-Signature") or headers.get("Stripe-Signature") or ""
        services.verify_and_store_event(body=call.request.body, signature=signature)
        return Reply({"received": True})
