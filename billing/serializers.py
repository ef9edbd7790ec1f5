"""Usage and billing on the wire."""

from __future__ import annotations

from datetime import datetime

from rest_framework import serializers

from billing.caps import Period
from billing.plans import METERED_PLAN, MODES, PLANS
from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import QuerySerializer, preview_of


class PeriodQuery(QuerySerializer):
    """A billing period."""

    period_start = fields.Timestamp(help_text="Any time in the UTC calendar month that is asked for.")

    def validate_period_start(self, value: datetime) -> datetime:
        try:
            Period.around(value)
        except OverflowError as error:
            raise serializers.ValidationError("This month has no end.", code="invalid") from error
        return value


class UsageQuery(PeriodQuery):
    """The query of a workspace's usage."""

    workspace_id = fields.Identifier("wrk")
    workspace_monthly_spend_cap_cents = fields.QueryInteger(
        min_value=0, help_text="The spend cap to reckon with in this answer; the stored one is what is enforced."
    )


class BillingQuery(UsageQuery):
    """The query of a workspace's bill."""

    free_credit_cents = fields.QueryInteger(
        min_value=0, default=100, help_text="The free credit to reckon with in this answer."
    )


class SpendCapSerializer(serializers.Serializer):
    """SPEND_CAP: how a month stands, in cents. `cap_cents` and `remaining_cents` are null for agents without a cap."""

    cap_cents = serializers.IntegerField(allow_null=True)
    free_credit_cents = serializers.IntegerField()
    spent_cents = serializers.IntegerField(help_text="What published targets cost.")
    reserved_cents = serializers.IntegerField(help_text="What is held for targets that are not finished.")
    remaining_cents = serializers.IntegerField(allow_null=True)
    exceeded = serializers.BooleanField(help_text="More is spent and held than free credit and cap allow.")


class PlatformUsageSerializer(serializers.Serializer):
    platform = serializers.CharField()
    published = serializers.IntegerField()
    failed = serializers.IntegerField()
    spend_cents = serializers.IntegerField()


class UsageTotalsSerializer(serializers.Serializer):
    """Targets of the month, by the month in which they were due."""

    published = serializers.IntegerField()
    failed = serializers.IntegerField()
    url_posts = serializers.IntegerField(help_text="Published posts that count for the monthly social URL post cap.")
    spend_cents = serializers.IntegerField()
    by_platform = PlatformUsageSerializer(many=True)


class MonthSerializer(serializers.Serializer):
    """A workspace in a UTC calendar month; `period_end` is the first instant of the next one."""

    workspace_id = serializers.CharField()
    period_start = serializers.DateTimeField(source="period.start")
    period_end = serializers.DateTimeField(source="period.end")


class UsageSerializer(MonthSerializer):
    """What came of a workspace's targets in a month."""

    totals = UsageTotalsSerializer()
    spend_cap = SpendCapSerializer()


class AgentUsageSerializer(UsageSerializer):
    """What came of an agent's targets in a month; the spend cap is the agent's own, which knows no free credit."""

    agent_id = serializers.CharField()


class ProjectedBillSerializer(serializers.Serializer):
    """What the month costs, in cents; in free beta nothing of it is invoiced."""

    usage_cents = serializers.IntegerField(help_text="What published targets cost.")
    free_credit_cents = serializers.IntegerField()
    amount_due_cents = serializers.IntegerField(help_text="What goes beyond the free credit.")
    currency = serializers.CharField()


class SubscriptionSerializer(serializers.Serializer):
    plan = serializers.ChoiceField(choices=PLANS)
    status = serializers.CharField(help_text="As the payment processor names it.")


class BillingSerializer(MonthSerializer):
    """A workspace's bill in a month."""

    mode = serializers.ChoiceField(choices=MODES)
    projected_bill = ProjectedBillSerializer()
    spend_cap = SpendCapSerializer()
    subscription = SubscriptionSerializer(allow_null=True)


class CreatePortalSessionSerializer(WriteBody):
    """Whose billing is to be looked after."""

    workspace_id = fields.Identifier("wrk")


class CreateCheckoutSessionSerializer(CreatePortalSessionSerializer):
    """Which workspace subscribes to which plan."""

    plan = fields.Choice(
        choices=PLANS, default=METERED_PLAN, help_text="One of `billing.available_plans` of GET /capabilities."
    )


class SessionSerializer(serializers.Serializer):
    """A page at the payment processor, for the person who asked for it."""

    id = serializers.CharField()
    url = serializers.CharField()


class SessionEnvelope(serializers.Serializer):
    session = SessionSerializer()


class UnopenedSessionSerializer(serializers.Serializer):
    """A session that was not asked for at the processor: both are null."""

    id = serializers.CharField(allow_null=True)
    url = serializers.CharField(allow_null=True)


CheckoutSessionPreview = preview_of(
    "CheckoutSession", request=CreateCheckoutSessionSerializer, would_create=UnopenedSessionSerializer
)
PortalSessionPreview = preview_of(
    "PortalSession", request=CreatePortalSessionSerializer, would_create=UnopenedSessionSerializer
)


class EventReceivedSerializer(serializers.Serializer):
    """The event was verified and is kept."""

    received = serializers.BooleanField()
