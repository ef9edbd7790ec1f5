"""Models of agents, API keys and the claim tokens that agents exchange for API keys."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from config.api.caller import AgentMode
from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import User, Workspace

KEY_OVERLAP_HOURS = 24  # period in which a rotated key still works beside the new one


class Agent(TimestampedModel):
    """An agent: a registered program that creates posts. Its `default_mode` may restrict it, for example to writing drafts.

    A null cap means that only the workspace's cap applies.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        REVOKED = "revoked"

    id = PrefixedIdField("agt")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="agents")
    owner_user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    scopes = models.JSONField(default=list)
    default_mode = models.CharField(max_length=24, choices=AgentMode.choices)
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
            models.CheckConstraint(condition=models.Q(default_mode__in=AgentMode.values), name="agent_mode_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.id})"

    @property
    def capped_rate_limit_per_minute(self) -> int | None:
        """Return the agent's own limit on API requests per minute, at most MAX_RATE_LIMIT_PER_MINUTE; None if it has none.

        The service's default limit then applies.
        """
        own = self.rate_limit_per_minute
        return None if own is None else min(own, settings.MAX_RATE_LIMIT_PER_MINUTE)


class ApiKey(TimestampedModel):
    """An API key: a bearer token of a workspace or of an agent. Only the token's SHA-256 is stored, not the token.

    `allowed_networks` are the networks it may be used from (CIDR); null means anywhere. `seen_networks` are those it was used
    from, the newest last; `new_network_at` is when the newest was first seen, null for a key with only one network.
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
            models.Index(fields=["new_network_at"], condition=models.Q(new_network_at__isnull=False), name="key_new_network")
        ]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.id})"

    @property
    def status(self) -> str:
        """Return the API key's status: active, retiring (replaced but still working for a while), revoked or expired."""
        if self.revoked_at:
            return "revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "expired"
        return "retiring" if self.retiring_since else "active"

    @property
    def held_scopes(self) -> list[str]:
        """Return the scopes (permissions) of the API key. The key of an agent has the agent's current scopes."""
        return list(self.agent.scopes if self.agent else self.scopes)


class ClaimToken(models.Model):
    """The claim token of an agent: a one-time token that the agent exchanges for its API key."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="claim_tokens")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    burned_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"claim of {self.agent_id}"
