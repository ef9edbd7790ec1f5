"""Models of agents, API keys, the claim tokens that agents exchange for API keys, and the OAuth server."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone

from config.api.caller import AgentMode
from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import User, Workspace

KEY_ROTATION_OVERLAP_HOURS = 24  # period in which a rotated key still works beside the new one


class Agent(TimestampedModel):
    """The model of an agent: a registered program that creates posts. Its `default_mode` may restrict it, such as to drafts.

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
        """Return this Agent row's limit on API requests per minute, at most MAX_RATE_LIMIT_PER_MINUTE; None without one.

        The service's default limit then applies.
        """
        own = self.rate_limit_per_minute
        return None if own is None else min(own, settings.MAX_RATE_LIMIT_PER_MINUTE)


class ApiKey(TimestampedModel):
    """The model of an API key: a bearer token of a workspace or an agent, of which only the SHA-256 is stored.

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
        """Return this ApiKey row's status: active, retiring (replaced but still working for a while), revoked or expired."""
        if self.revoked_at:
            return "revoked"
        if self.expires_at and self.expires_at <= timezone.now():
            return "expired"
        return "retiring" if self.retiring_since else "active"

    @property
    def held_scopes(self) -> list[str]:
        """Return this ApiKey row's scopes (permissions). The key of an agent has the agent's current scopes."""
        return list(self.agent.scopes if self.agent else self.scopes)


class ClaimToken(models.Model):
    """The model of an agent's claim token: a one-time token that the agent exchanges for its API key."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="claim_tokens")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    burned_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"claim of {self.agent_id}"


class OAuthClient(TimestampedModel):
    """The model of an OAuth client: a program that may ask people for access. All clients are public: they have no secret.

    Its `client_id` is its own id if it registered itself (RFC 7591), or else the URL of its client ID metadata document. The
    document was last read at `document_read_at`.
    """

    id = PrefixedIdField("ocl")
    client_id = models.CharField(max_length=500, unique=True)
    name = models.CharField(max_length=200)
    redirect_uris = models.JSONField(default=list)
    grant_types = models.JSONField(default=list)
    document_read_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.client_id})"

    @property
    def verified_host(self) -> str:
        """Return the host that publishes this OAuthClient row's metadata document; "" for a client that registered itself."""
        return urlsplit(self.client_id).hostname or "" if self.document_read_at else ""

    @property
    def name_or_host_or_id(self) -> str:
        """Return a short name of this OAuthClient row for the log: its own name, or else its host or its id."""
        return (self.name or self.verified_host or self.id)[:64]


class OAuthGrant(TimestampedModel):
    """The model of an OAuth grant: a person's permission for a client to act as an agent, with its authorization code.

    A grant by the device flow has no authorization code. `resource` is the URL that its access tokens open (RFC 8707).
    """

    id = PrefixedIdField("ogr")
    client = models.ForeignKey(OAuthClient, on_delete=models.PROTECT, related_name="grants")
    agent = models.OneToOneField(Agent, on_delete=models.CASCADE, related_name="oauth_grant")
    resource = models.CharField(max_length=2048)
    redirect_uri = models.CharField(max_length=2048, blank=True)
    code_sha256 = models.CharField(max_length=64, unique=True, null=True)
    code_challenge = models.CharField(max_length=128, blank=True)
    code_expires_at = models.DateTimeField(null=True)
    code_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.client_id} as {self.agent_id}"

    @property
    def redirect_host_or_empty(self) -> str:
        """Return the host, with port, to which this OAuthGrant row's person was sent back; "" for the device flow."""
        return urlsplit(self.redirect_uri).netloc

    @property
    def redirects_to_own_computer(self) -> bool:
        """Return whether this OAuthGrant row's redirect URI leads to the person's own computer: only there it may be http."""
        return self.redirect_uri.startswith("http:")

    @property
    def is_open(self) -> bool:
        """Return whether this OAuthGrant row has neither ended nor expired; the agent may still be revoked."""
        return self.ended_at is None and self.expires_at > timezone.now()


class OAuthToken(models.Model):
    """The model of an OAuth access token with the refresh token issued beside it; only their SHA-256 are stored.

    A refresh token is used once: at `refreshed_at` another row replaced this one.
    """

    grant = models.ForeignKey(OAuthGrant, on_delete=models.CASCADE, related_name="tokens")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="oauth_tokens")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    access_sha256 = models.CharField(max_length=64, unique=True)
    access_expires_at = models.DateTimeField()
    refresh_sha256 = models.CharField(max_length=64, unique=True)
    refresh_expires_at = models.DateTimeField(db_index=True)
    refreshed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"token of {self.grant_id}"


class DeviceAuthorization(models.Model):
    """The model of a device authorization (RFC 8628): a client waits until a person enters its `user_code` and decides.

    `interval` is the number of seconds that the client must wait between its requests.
    """

    client = models.ForeignKey(OAuthClient, on_delete=models.CASCADE, related_name="device_authorizations")
    device_code_sha256 = models.CharField(max_length=64, unique=True)
    user_code = models.CharField(max_length=8, unique=True)
    resource = models.CharField(max_length=2048)
    scopes = models.JSONField(default=list)
    interval = models.PositiveIntegerField()
    polled_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(db_index=True)
    denied_at = models.DateTimeField(null=True)
    grant = models.OneToOneField(OAuthGrant, on_delete=models.CASCADE, null=True, related_name="device_authorization")
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"device authorization of {self.client_id}"
