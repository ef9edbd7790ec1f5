"""API serializers of usage, bills, and the payment processor's checkout and portal sessions."""

from __future__ import annotations

from datetime import datetime

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from billing.caps import UtcMonth
from billing.subscription_plans import BILLING_MODES, METERED_PLAN, SUBSCRIPTION_PLANS
from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import QuerySerializer, dry_run_serializer_class


class PeriodQuery(QuerySerializer):
    """The API serializer of the query parameters that choose a billing period (a UTC month)."""

    period_start = fields.Timestamp(help_text="Any time in the requested UTC calendar month.")

    def validate_period_start(self, value: datetime) -> datetime:
        try:
            UtcMonth.containing(value)
        except OverflowError as error:
            raise serializers.ValidationError("This month is not supported. Use an earlier one.", code="invalid") from error
        return value


class UsageQuery(PeriodQuery):
    """The API serializer of the query parameters for a workspace's usage."""

    workspace_id = fields.Identifier("wrk")
    workspace_monthly_spend_cap_cents = fields.QueryInteger(
        min_value=0, help_text="The spend cap to use in this response. The stored cap is the one that is enforced."
    )


class BillingQuery(UsageQuery):
    """The API serializer of the query parameters for a workspace's bill."""

    free_credit_cents = fields.QueryInteger(min_value=0, default=100, help_text="The free credit to use in this response.")


class SpendCapSerializer(serializers.Serializer):
    """The API representation of a month's spending and spend cap, in cents; an agent's cap may be null."""

    cap_cents = serializers.IntegerField(allow_null=True)
    free_credit_cents = serializers.IntegerField()
    spent_cents = serializers.IntegerField(help_text="What published targets cost.")
    reserved_cents = serializers.IntegerField(help_text="What is held for targets that are not finished.")
    remaining_cents = serializers.IntegerField(allow_null=True)
    exceeded = serializers.BooleanField(help_text="More is spent and held than free credit and cap allow.")


class PlatformUsageSerializer(serializers.Serializer):
    platform = serializers.CharField(
        help_text="A platform, or `correction` for what the service has credited (negative) or charged beside the posts."
    )
    published = serializers.IntegerField()
    failed = serializers.IntegerField()
    spend_cents = serializers.IntegerField()


class UsageTotalsSerializer(serializers.Serializer):
    """The API representation of a month's usage: the numbers of published and failed posts, and their cost in cents.

    It counts the posts that were due in the month, once for each account.
    """

    published = serializers.IntegerField()
    failed = serializers.IntegerField()
    url_posts = serializers.IntegerField(help_text="Published posts that count for the monthly social URL post cap.")
    spend_cents = serializers.IntegerField()
    by_platform = PlatformUsageSerializer(many=True)


class WorkspaceAndPeriodSerializer(serializers.Serializer):
    """The workspace and UTC month of usage or a bill in API responses. `period_end` is the start of the next month."""

    workspace_id = serializers.CharField()
    period_start = serializers.DateTimeField(source="period.start")
    period_end = serializers.DateTimeField(source="period.end")


class UsageSerializer(WorkspaceAndPeriodSerializer):
    """The API representation of a workspace's usage in a month."""

    totals = UsageTotalsSerializer()
    spend_cap = SpendCapSerializer()


class AgentUsageSerializer(UsageSerializer):
    """The API representation of an agent's usage in a month, with the agent's own spend cap.

    Agents have no free credit.
    """

    agent_id = serializers.CharField()


@extend_schema_serializer(component_name="ProjectedBill")
class ProjectedUsageBillSerializer(serializers.Serializer):
    """The API representation of a bill for a month's usage so far, in cents, without the fixed price of a plan.

    The free credit is the one in the request. In free beta nothing is invoiced.
    """

    usage_cents = serializers.IntegerField(help_text="What published targets cost.")
    free_credit_cents = serializers.IntegerField()
    amount_due_cents = serializers.IntegerField(help_text="Usage beyond the free credit.")
    currency = serializers.CharField()


class SubscriptionSerializer(serializers.Serializer):
    plan = serializers.ChoiceField(choices=SUBSCRIPTION_PLANS)
    status = serializers.CharField(help_text="As the payment processor names it.")


@extend_schema_serializer(component_name="Billing")
class MonthBillSerializer(WorkspaceAndPeriodSerializer):
    """The API representation of a workspace's bill for a month."""

    mode = serializers.ChoiceField(choices=BILLING_MODES)
    projected_bill = ProjectedUsageBillSerializer(source="bill_so_far")
    spend_cap = SpendCapSerializer()
    subscription = SubscriptionSerializer(allow_null=True)


class CreatePortalSessionSerializer(WriteBody):
    """The API request to open the payment processor's portal, where a workspace's invoices and payment methods are shown."""

    workspace_id = fields.Identifier("wrk")


class CreateCheckoutSessionSerializer(CreatePortalSessionSerializer):
    """The API request for the payment processor's checkout page, on which the workspace subscribes to a plan."""

    plan = fields.Choice(
        choices=SUBSCRIPTION_PLANS, default=METERED_PLAN, help_text="One of `billing.available_plans` of GET /capabilities."
    )


class SessionSerializer(serializers.Serializer):
    """The API representation of a page at the payment processor: a checkout or portal session with its URL."""

    id = serializers.CharField()
    url = serializers.CharField()


class SessionEnvelope(serializers.Serializer):
    session = SessionSerializer()


@extend_schema_serializer(component_name="UnopenedSession")
class DryRunSessionSerializer(serializers.Serializer):
    """The checkout or portal session in the response to a dry run. `id` and `url` are null, as no session is created."""

    id = serializers.CharField(allow_null=True)
    url = serializers.CharField(allow_null=True)


CheckoutSessionPreview = dry_run_serializer_class(
    "CheckoutSession", request=CreateCheckoutSessionSerializer, would_create=DryRunSessionSerializer
)
PortalSessionPreview = dry_run_serializer_class(
    "PortalSession", request=CreatePortalSessionSerializer, would_create=DryRunSessionSerializer
)


class EventReceivedSerializer(serializers.Serializer):
    """The API response of billing to an event that the payment processor sent, once it is verified and stored."""

    received = serializers.BooleanField()
