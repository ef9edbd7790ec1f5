"""API serializers of the audit log: its entries, and the query parameters of its lists."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from auditlog.models import ActorType, AuditEntry, RetentionTier
from config.api import fields
from config.api.paging import PageQuery, page_serializer_class


@extend_schema_field(
    {"type": "object", "additionalProperties": True, "description": "Ids and values, without personal text."}
)
class MetadataField(serializers.JSONField):
    """The serializer field of an audit log entry's metadata: a JSON object that depends on the audited operation."""


class LogSerializer(serializers.ModelSerializer):
    """The API representation of an audit log entry: a write that a caller tried, with the error code if it was refused.

    `via` is the client's name.
    """

    actor_type = serializers.ChoiceField(choices=ActorType.choices)
    retention_tier = serializers.ChoiceField(
        choices=RetentionTier.choices, help_text="The tier under which the entry was written."
    )
    metadata = MetadataField()

    class Meta:
        model = AuditEntry
        fields = (
            "id",
            "workspace_id",
            "actor_type",
            "actor_id",
            "via",
            "operation",
            "resource_type",
            "resource_id",
            "outcome",
            "code",
            "dry_run",
            "ip",
            "trace_id",
            "retention_tier",
            "metadata",
            "created_at",
        )


LogPage = page_serializer_class("LogPage", "logs", LogSerializer)


class AgentLogsQuery(PageQuery):
    """The query parameters of an agent's audit log: the retention tier of the entries, the format and the page."""

    retention_tier = fields.Choice(
        choices=RetentionTier.choices, required=False, help_text="Entries that were written under this tier."
    )
    format = fields.Choice(
        choices=["json", "csv"],
        default="json",
        help_text="`csv` returns all entries at once, newest first, and ignores `limit` and `cursor`.",
    )


class LogsQuery(AgentLogsQuery):
    """The query parameters of a workspace's audit log: retention tier, format, page, workspace and actor."""

    workspace_id = fields.Identifier("wrk")
    actor_type = fields.Choice(choices=ActorType.choices, required=False)
    actor_id = fields.Text(max_length=64, required=False, help_text="A user, an agent or an API key.")
