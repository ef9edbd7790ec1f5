"""The model of audit log entries: one for each write operation that an authenticated caller tried, even if it was refused.

Entries contain ids, without personal text.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from config.db.ids import PrefixedIdField


class ActorType(models.TextChoices):
    """The kinds of callers in the model of audit entries, such as a user, an agent, or a program with a workspace key.

    CLI, MCP and AGENT_RUNTIME are workspace keys whose client states that name.
    """

    USER = "user"
    AGENT = "agent"
    API_KEY = "api_key"
    CLI = "cli"
    MCP = "mcp"
    AGENT_RUNTIME = "agent_runtime"
    SYSTEM = "system"


class RetentionTier(models.TextChoices):
    """The retention tiers in the model of audit entries: how long an entry is stored, from the shortest time upwards."""

    FREE = "free"
    PRO = "pro"
    SCALE = "scale"
    ENTERPRISE = "enterprise"


class AuditEntry(models.Model):
    """The model of an audit log entry, which never changes. It has ids and no foreign keys, as objects may be deleted."""

    class Outcome(models.TextChoices):
        SUCCEEDED = "succeeded"
        REFUSED = "refused"

    id = PrefixedIdField("log")
    workspace_id = models.CharField(max_length=30, blank=True)
    actor_type = models.CharField(max_length=20)
    actor_id = models.CharField(max_length=64)
    via = models.CharField(max_length=20, null=True)
    operation = models.CharField(max_length=64)
    resource_type = models.CharField(max_length=40, blank=True)
    resource_id = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    code = models.CharField(max_length=64, null=True)
    dry_run = models.BooleanField(default=False)
    ip = models.GenericIPAddressField(null=True)
    trace_id = models.CharField(max_length=32)
    retention_tier = models.CharField(max_length=12)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["trace_id"], name="audit_trace"),
            models.Index(fields=["workspace_id", "-id"], name="audit_workspace"),
            models.Index(fields=["workspace_id", "actor_id", "-id"], name="audit_actor"),
            models.Index(fields=["workspace_id", "operation", "-id"], name="audit_operation"),
            models.Index(fields=["workspace_id", "-id"], condition=models.Q(outcome="refused"), name="audit_refused"),
            models.Index(fields=["retention_tier", "created_at"], name="audit_retention"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.outcome} ({self.id})"
