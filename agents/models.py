"""Agents, API keys and claim tokens."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from config.api.caller import Mode
from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import User, Workspace

OVERLAP_HOURS = 24  # for which a key that was rotated goes on beside the new one


class Agent(TimestampedModel):
    """A registered automated caller. `default_mode` is its ceiling; null caps mean that only the workspace's hold."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        REVOKED = "revoked"

    id = PrefixedIdField("agt")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="agents")
    owner_user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    scopes = models.JSONField(default=list)
    default_mode = models.CharField(max_length=24, choices=Mode.choices)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    version = models.CharField(max_length=200, null=True)
    description = models.CharField(max_length=2000, null=True)
    account_allowlist = models.JSONField(null=True)
    rate_limit_per_minute = models.PositiveIntegerField(null=True)
    posts_per_day_cap = models.PositiveIntegerField(null=True)
    monthly_spend_cap_cents = models.PositiveBigIntegerField(null=True)
    monthly_social_url_post_cap = models.PositiveBigIntegerField(null=True)
    webhook_url = models.CharField(max_length=2048, null=True)
    showcase_opt_in = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=["active", "revoked"]), name="agent_status_known"),
            models.CheckConstraint(condition=models.Q(default_mode__in=Mode.values), name="agent_mode_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.id})"

    @property
    def effective_rate_limit(self) -> int | None:
        """The agent's own limit, which the service's highest bounds; None: as for any key."""
        own = self.rate_limit_per_minute
        return None if own is None else min(own, settings.MAX_RATE_LIMIT_PER_MINUTE)


class ApiKey(TimestampedModel):
    """A bearer token of a workspace or of an agent; only its SHA-256 is stored.

    `allowed_networks`: where it may be used from (CIDR); null: anywhere. `seen_networks`: where it was used from, the latest
    new one last; `new_network_at` is when that one was first seen, null while there is only the key's first one.
    """

    id = PrefixedIdField("key")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="api_keys")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, related_name="api_keys")
    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=12)
    token_sha256 = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    expires_at = models.DateTimeField(null=True)
    retiring_since = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    allowed_networks = models.JSONField(null=True)
    seen_networks = models.JSONField(null=True)
    new_network_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["new_network_at"], condition=models.Q(new_network_at__isnull=False), name="key_new_network"
            )
        ]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.id})"

    @property
    def status(self) -> str:
        """active, retiring (rotated, its overlap runs), revoked or expired."""
        if self.revoked_at:
            return "revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "expired"
        return "retiring" if self.retiring_since else "active"

    @property
    def held_scopes(self) -> list[str]:
        """An agent key's scopes are its agent's, as they stand now."""
        return list(self.agent.scopes if self.agent else self.scopes)


class ClaimToken(models.Model):
    """The one-time token that an agent exchanges for its key."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="claim_tokens")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    burned_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"claim of {self.agent_id}"
