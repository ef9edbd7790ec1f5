"""What operators send and get."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from agents.serializers import ApiKeySerializer
from billing.models import BillingAlarm
from config.api import fields
from config.api.operation import WriteBody
from config.api.serializers import PageQuery, StrictList, page_of, preview_of
from webhooks.models import Delivery, DeliveryStatus
from webhooks.serializers import DeliverySerializer
from workspaces.models import Workspace
from workspaces.serializers import WorkspaceSerializer

MAX_IDS = 200


class QueueSerializer(serializers.Serializer):
    """One duty of the workers."""

    duty = serializers.CharField()
    due = serializers.IntegerField(help_text="How many rows are due; counted to 10,000.")
    oldest_due_at = serializers.DateTimeField(allow_null=True)
    late_seconds = serializers.FloatField(help_text="For how long the oldest of them has been due.")
    heartbeat_at = serializers.DateTimeField(allow_null=True)
    alive = serializers.BooleanField(help_text="A worker went its round within the last 30 seconds.")


class PeriodicWorkSerializer(serializers.Serializer):
    """What the beat sets going."""

    beat_at = serializers.DateTimeField(allow_null=True, help_text="When its word last reached a worker.")
    beat_alive = serializers.BooleanField()
    retention_at = serializers.DateTimeField(allow_null=True, help_text="When all that was over had gone.")


class AlarmSerializer(serializers.ModelSerializer):
    """Something about money that is not as it must be."""

    kind = serializers.CharField(help_text="`books` is a month whose counter is not the sum of its ledger entries.")

    class Meta:
        model = BillingAlarm
        fields = ("kind", "subject", "detail", "first_seen_at", "last_seen_at")


class StatusSerializer(serializers.Serializer):
    """How the service stands."""

    version = serializers.CharField()
    at = serializers.DateTimeField()
    duties = QueueSerializer(many=True)
    periodic = PeriodicWorkSerializer()
    dead_letters = serializers.IntegerField(help_text="Deliveries that were given up.")
    accounts_needing_reauth = serializers.IntegerField()
    ledger_drift_months = serializers.IntegerField(
        help_text="As the last nightly look at the books found it; must be 0."
    )
    billing_alarms = AlarmSerializer(many=True, help_text="The open ones, the oldest first, 100 at the most.")


class OperatorsWorkspaceSerializer(WorkspaceSerializer):
    """A workspace as operators see it; `paused_by` names each whose pause holds it."""

    owner_email = serializers.CharField(source="owner_user.email")
    retention_tier = serializers.CharField()
    paused_by = serializers.SerializerMethodField()

    class Meta:
        model = Workspace
        fields = (*WorkspaceSerializer.Meta.fields, "owner_email", "retention_tier", "paused_by")

    def get_paused_by(self, workspace: Workspace) -> list[str]:
        return workspace.paused_by


class OperatorsWorkspaceEnvelope(serializers.Serializer):
    workspace = OperatorsWorkspaceSerializer()


OperatorsWorkspacePage = page_of("OperatorsWorkspacePage", "workspaces", OperatorsWorkspaceSerializer)
PauseWorkspacePreview = preview_of("OpsWorkspacePause", would_update=OperatorsWorkspaceSerializer)


class OperatorsWorkspacesQuery(PageQuery):
    query = fields.Text(
        default="",
        allow_blank=True,
        max_length=255,
        help_text="The id of a workspace or owner, the owner's e-mail address, or a part of the name or slug.",
    )


class OperatorsDeliverySerializer(DeliverySerializer):
    """A delivery, and whose it is."""

    class Meta:
        model = Delivery
        fields = (*DeliverySerializer.Meta.fields, "workspace_id")


OperatorsDeliveryPage = page_of("OperatorsDeliveryPage", "deliveries", OperatorsDeliverySerializer)


class OperatorsDeliveriesQuery(PageQuery):
    status = fields.Choice(choices=DeliveryStatus.choices, default=DeliveryStatus.DEAD_LETTER)
    workspace_id = fields.Identifier("wrk", required=False, help_text="Those of one workspace.")


class EitherBody(WriteBody):
    """A body that names exactly one of its fields."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        choices = [name for name in self.get_fields() if name != "dry_run"]
        if sum(name in attrs for name in choices) != 1:
            raise serializers.ValidationError(f"Give one of {' and '.join(choices)}.", code="one_of")
        return attrs


class ReplayDeliveriesSerializer(EitherBody):
    """Deliveries by their ids, or all dead letters of a workspace."""

    ids = StrictList(child=fields.Identifier("dlv"), required=False, min_length=1, max_length=MAX_IDS)
    workspace_id = fields.Identifier("wrk", required=False)


class ReplaysSerializer(serializers.Serializer):
    """What came of a replay of many."""

    replayed = serializers.IntegerField(help_text="Due at once; 10,000 in one call at the most.")
    in_flight = serializers.IntegerField(help_text="Left alone, since an attempt is being made.")
    remaining = serializers.IntegerField(help_text="Dead letters of the workspace that are left for another call.")


class ReplayRequestShown(serializers.Serializer):
    """What was asked to be replayed."""

    ids = serializers.ListField(child=serializers.CharField(), required=False)
    workspace_id = serializers.CharField(required=False)


ReplayDeliveriesPreview = preview_of("OpsDeliveryReplay", request=ReplayRequestShown, would_update=ReplaysSerializer)


class RuleSerializer(serializers.Serializer):
    """One kind of rows that go when their time is over."""

    name = serializers.CharField()
    rows = serializers.IntegerField()


class RetainedSerializer(serializers.Serializer):
    """What went, or in a preview what would go by now."""

    rules = RuleSerializer(many=True)
    complete = serializers.BooleanField(help_text="False: more is over; the next run goes on.")
    faults = serializers.ListField(child=serializers.CharField(), help_text="Rules that met a fault; the log says why.")
    kept = serializers.ListField(child=serializers.CharField(), help_text="What no rule touches.")


RunRetentionPreview = preview_of("OpsRetentionRun", would_delete=RetainedSerializer)


class ReconciledSerializer(serializers.Serializer):
    """What a look at the payment processor's truth and at the books found."""

    workspaces = serializers.IntegerField(help_text="That the processor was asked about.")
    subscriptions_changed = serializers.IntegerField()
    usage_differences = serializers.IntegerField()
    drifting_months = serializers.IntegerField()
    complete = serializers.BooleanField(help_text="False: the processor did not answer; the beat takes it up again.")


class ReconciledEnvelope(serializers.Serializer):
    reconciliation = ReconciledSerializer()


class ReconcileScopeSerializer(serializers.Serializer):
    """What would be looked at."""

    workspaces = serializers.IntegerField()


ReconcileBillingPreview = preview_of("OpsBillingReconcile", would_update=ReconcileScopeSerializer)


class RevokeKeySerializer(EitherBody):
    """A key by the token that has leaked, or by its id."""

    token = fields.Text(required=False, max_length=200)
    id = fields.Identifier("key", required=False)


class RevokedKeyEnvelope(serializers.Serializer):
    api_key = ApiKeySerializer()


RevokeKeyPreview = preview_of("OpsKeyRevoke", would_update=ApiKeySerializer)
