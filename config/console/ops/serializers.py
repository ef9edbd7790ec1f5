"""Serializers of the operators' API at /ops: request bodies, queries and answers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from agents.serializers import ApiKeySerializer
from billing.models import BillingAlarm
from config.api import fields
from config.api.operation import WriteBody
from config.api.paging import PageQuery, page_serializer_class
from config.api.serializers import dry_run_serializer_class
from webhooks.models import Delivery, DeliveryStatus
from webhooks.serializers import DeliverySerializer
from workspaces.models import Workspace
from workspaces.serializers import WorkspaceSerializer

MAX_IDS = 200


class QueueSerializer(serializers.Serializer):
    """The status of one queue of background jobs in /ops/status; `duty` is the name of the queue."""

    duty = serializers.CharField()
    due = serializers.IntegerField(help_text="How many rows are due, counted up to 10,000.")
    oldest_due_at = serializers.DateTimeField(allow_null=True)
    late_seconds = serializers.FloatField(help_text="How long the oldest row has been due.")
    heartbeat_at = serializers.DateTimeField(allow_null=True)
    alive = serializers.BooleanField(help_text="Whether a worker ran within the last 30 seconds.")


class PeriodicWorkSerializer(serializers.Serializer):
    """When Celery beat and the deletion of expired rows last ran, in the answer of /ops/status."""

    beat_at = serializers.DateTimeField(allow_null=True, help_text="When a task of the beat last reached a worker.")
    beat_alive = serializers.BooleanField()
    retention_at = serializers.DateTimeField(allow_null=True, help_text="When retention last deleted all expired rows.")


class AlarmSerializer(serializers.ModelSerializer):
    """A billing alarm in /ops/status: a billing problem that the service detected and that is not resolved yet."""

    kind = serializers.CharField(help_text="`books`: a month's counter differs from the sum of its ledger entries.")

    class Meta:
        model = BillingAlarm
        fields = ("kind", "subject", "detail", "first_seen_at", "last_seen_at")


class StatusSerializer(serializers.Serializer):
    """The answer of GET /ops/status in the operators' API: the status of queues and background loops, alarms, the version."""

    version = serializers.CharField()
    at = serializers.DateTimeField()
    duties = QueueSerializer(many=True)
    periodic = PeriodicWorkSerializer()
    dead_letters = serializers.IntegerField(help_text="Deliveries that were given up.")
    accounts_needing_reauth = serializers.IntegerField()
    ledger_drift_months = serializers.IntegerField(help_text="Found by the last nightly check; must be 0.")
    billing_alarms = AlarmSerializer(many=True, help_text="Open alarms, the oldest first, at most 100.")


class OperatorsWorkspaceSerializer(WorkspaceSerializer):
    """A workspace in answers of /ops; `paused_by` says who paused it: its owner, an operator or both."""

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


OperatorsWorkspacePage = page_serializer_class("OperatorsWorkspacePage", "workspaces", OperatorsWorkspaceSerializer)
PauseWorkspacePreview = dry_run_serializer_class("OpsWorkspacePause", would_update=OperatorsWorkspaceSerializer)


class OperatorsWorkspacesQuery(PageQuery):
    query = fields.Text(
        default="",
        allow_blank=True,
        max_length=255,
        help_text="A workspace or owner id, the owner's e-mail address, or a part of the name or slug.",
    )


class OperatorsDeliverySerializer(DeliverySerializer):
    """A webhook delivery in answers of /ops, with the id of its workspace."""

    class Meta:
        model = Delivery
        fields = (*DeliverySerializer.Meta.fields, "workspace_id")


OperatorsDeliveryPage = page_serializer_class("OperatorsDeliveryPage", "deliveries", OperatorsDeliverySerializer)


class OperatorsDeliveriesQuery(PageQuery):
    status = fields.Choice(choices=DeliveryStatus.choices, default=DeliveryStatus.DEAD_LETTER)
    workspace_id = fields.Identifier("wrk", required=False, help_text="Only deliveries of this workspace.")


class ExactlyOneFieldBody(WriteBody):
    """Base class of request bodies of /ops that must have exactly one of their fields, besides `dry_run`."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        choices = [name for name in self.get_fields() if name != "dry_run"]
        if sum(name in attrs for name in choices) != 1:
            raise serializers.ValidationError(f"Give one of {' and '.join(choices)}.", code="one_of")
        return attrs


class ReplayDeliveriesSerializer(ExactlyOneFieldBody):
    """The request to /ops to send webhook deliveries again: those with the given ids, or the given-up ones of a workspace."""

    ids = fields.StrictList(child=fields.Identifier("dlv"), required=False, min_length=1, max_length=MAX_IDS)
    workspace_id = fields.Identifier("wrk", required=False)


@extend_schema_serializer(component_name="Replays")
class ReplayResultSerializer(serializers.Serializer):
    """The answer of /ops to the request to send webhook deliveries again."""

    replayed = serializers.IntegerField(help_text="Deliveries made due now, at most 10,000 in one call.")
    in_flight = serializers.IntegerField(help_text="Skipped, because an attempt is in progress.")
    remaining = serializers.IntegerField(help_text="Dead letters of the workspace left for another call.")


@extend_schema_serializer(component_name="ReplayRequestShown")
class ReplayRequestEchoSerializer(serializers.Serializer):
    """The field `request` in a dry run's answer: it repeats the request to /ops to send webhook deliveries again."""

    ids = serializers.ListField(child=serializers.CharField(), required=False)
    workspace_id = serializers.CharField(required=False)


ReplayDeliveriesPreview = dry_run_serializer_class(
    "OpsDeliveryReplay", request=ReplayRequestEchoSerializer, would_update=ReplayResultSerializer
)


@extend_schema_serializer(component_name="Rule")
class RetentionRuleResultSerializer(serializers.Serializer):
    """One retention rule in the answer of /ops to a retention run, with the number of rows deleted or to delete."""

    name = serializers.CharField()
    rows = serializers.IntegerField()


@extend_schema_serializer(component_name="Retained")
class RetentionResultSerializer(serializers.Serializer):
    """The answer of /ops to a retention run: how many expired rows each rule deleted or, in a dry run, would delete."""

    rules = RetentionRuleResultSerializer(many=True)
    complete = serializers.BooleanField(help_text="False: expired rows are left for the next run.")
    faults = serializers.ListField(child=serializers.CharField(), help_text="Rules that failed; see the log.")
    kept = serializers.ListField(child=serializers.CharField(), help_text="Data that no rule deletes.")


RunRetentionPreview = dry_run_serializer_class("OpsRetentionRun", would_delete=RetentionResultSerializer)


@extend_schema_serializer(component_name="Reconciled")
class BillingReconciliationResultSerializer(serializers.Serializer):
    """The answer of /ops to billing's reconciliation with the payment processor: the number of differences found."""

    workspaces = serializers.IntegerField(help_text="Workspaces compared with the processor.")
    subscriptions_changed = serializers.IntegerField()
    usage_differences = serializers.IntegerField()
    drifting_months = serializers.IntegerField()
    complete = serializers.BooleanField(help_text="False: the processor did not answer; the next scheduled run tries again.")


class ReconciledEnvelope(serializers.Serializer):
    reconciliation = BillingReconciliationResultSerializer()


@extend_schema_serializer(component_name="ReconcileScope")
class WouldReconcileBillingSerializer(serializers.Serializer):
    """The answer of /ops to a dry run of billing's reconciliation: how many workspaces it would compare."""

    workspaces = serializers.IntegerField()


ReconcileBillingPreview = dry_run_serializer_class("OpsBillingReconcile", would_update=WouldReconcileBillingSerializer)


class RevokeKeySerializer(ExactlyOneFieldBody):
    """The request to /ops to revoke an API key, which is given by its token or its id."""

    token = fields.Text(required=False, max_length=200)
    id = fields.Identifier("key", required=False)


class RevokedKeyEnvelope(serializers.Serializer):
    api_key = ApiKeySerializer()


RevokeKeyPreview = dry_run_serializer_class("OpsKeyRevoke", would_update=ApiKeySerializer)
