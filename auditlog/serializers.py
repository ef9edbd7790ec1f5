"""Audit entries on the wire."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from auditlog.models import ActorType, AuditEntry, RetentionTier
from config.api import fields
from config.api.serializers import PageQuery, page_of


@extend_schema_field(
    {"type": "object", "additionalProperties": True, "description": "Ids and facts, no text of people."}
)
class MetadataField(serializers.JSONField):
    """What else belongs to the entry, by operation."""


class LogSerializer(serializers.ModelSerializer):
    """LOG: one write that was tried. `code` says why it was refused; `via` is what the client said of itself."""

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


LogPage = page_of("LogPage", "logs", LogSerializer)


class AgentLogsQuery(PageQuery):
    """What narrows a list of entries, and its form."""

    retention_tier = fields.Choice(
        choices=RetentionTier.choices, required=False, help_text="Entries that were written under this tier."
    )
    format = fields.Choice(
        choices=["json", "csv"],
        default="json",
        help_text="`csv` answers all entries at once, newest first; `limit` and `cursor` mean nothing to it.",
    )


class LogsQuery(AgentLogsQuery):
    """The query of a workspace's entries."""

    workspace_id = fields.Identifier("wrk")
    actor_type = fields.Choice(choices=ActorType.choices, required=False)
    actor_id = fields.Text(max_length=64, required=False, help_text="A user, an agent or an API key.")
