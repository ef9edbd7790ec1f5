"""Models of connected accounts and of OAuth connection attempts."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from accounts.platforms.types import AccountLimitsAndScopes, Grant
from config.api.caller import Caller
from config.db.encryption import EncryptedJSONField
from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import Workspace


class ConnectedAccount(TimestampedModel):
    """The model of a workspace's account on a social platform.

    `credentials` and `tokens` are encrypted for this row only. `refresh_lease_until` is set by the worker that renews the
    tokens. `refresh_at` is the time of the next renewal before expiry (services/tokens.py). `paced_until` is the end of the
    times that posts have reserved, and `held_until` the end of a pause that the platform asked for (services/pace.py).
    `slots` are the weekly times at which its posts may be published (slots.py), in the zone `slot_timezone`.
    `limits` are the limits of the account's server, when last read, on platforms whose servers differ.
    `avatar_digest` identifies the content of the account's Avatar; it is empty if there is none.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        NEEDS_REAUTH = "needs_reauth"
        DISCONNECTED = "disconnected"

    class Method(models.TextChoices):
        """How a ConnectedAccount was connected: by the platform's sign-in page, or by credentials that a person entered."""

        OAUTH = "oauth"
        CREDENTIALS = "credentials"

    id = PrefixedIdField("acc")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="accounts")
    platform = models.CharField(max_length=20)
    method = models.CharField(max_length=12, choices=Method.choices)
    sandbox = models.BooleanField(default=False)
    external_id = models.CharField(max_length=255)
    handle = models.CharField(max_length=255, blank=True)
    display_name = models.CharField(max_length=255, blank=True)
    avatar_url = models.CharField(max_length=2048, blank=True)
    avatar_digest = models.CharField(max_length=16, blank=True, default="", db_default="")
    profile_url = models.CharField(max_length=2048, blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ACTIVE)
    scopes = models.JSONField(default=list)
    limits = models.JSONField(default=dict)
    credentials = EncryptedJSONField(null=True)
    tokens = EncryptedJSONField(null=True)
    token_expires_at = models.DateTimeField(null=True)
    refresh_lease_until = models.DateTimeField(null=True)
    refresh_at = models.DateTimeField(null=True)
    refresh_failures = models.PositiveSmallIntegerField(default=0)
    paced_until = models.DateTimeField(null=True)
    held_until = models.DateTimeField(null=True)
    last_checked_at = models.DateTimeField(null=True)
    slot_timezone = models.CharField(max_length=64, null=True)
    slots = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "platform", "external_id"], name="account_once"),
            models.CheckConstraint(
                condition=models.Q(status__in=["active", "needs_reauth", "disconnected"]), name="account_status_known"
            ),
        ]
        indexes = [
            models.Index(
                fields=["refresh_at"],
                condition=models.Q(status="active", refresh_at__isnull=False),
                name="account_refresh_due",
            ),
            models.Index(fields=["id"], condition=models.Q(status="needs_reauth"), name="account_needs_reauth"),
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.handle} ({self.id})"

    @property
    def avatar_address(self) -> str:
        """Return the URL at which this service serves the picture of this ConnectedAccount row; "" if it has none."""
        if not self.avatar_digest:
            return ""
        return reverse("account-avatar", args=[self.workspace_id, self.id, self.avatar_digest])

    @property
    def access_cannot_be_renewed(self) -> bool:
        """Return whether this ConnectedAccount's access will end because its OAuth tokens cannot be renewed.

        That is known once the platform has refused new tokens: `refresh_at` is then the end of the access.
        """
        if self.token_expires_at is None:
            return False
        return self.refresh_at is None or (self.refresh_at >= self.token_expires_at and not self.refresh_failures)

    def id_limits_and_scopes(self) -> AccountLimitsAndScopes:
        """Return a connected account's id, server limits and OAuth scopes, on which the limits for its posts depend."""
        return AccountLimitsAndScopes(self.external_id, self.limits, tuple(self.scopes))

    def decrypted_grant(self) -> Grant:
        """Return the decrypted credentials and tokens of this ConnectedAccount row. Raises SealedValueError if that fails."""
        return Grant(self.credentials or {}, self.tokens or {}, self.external_id, self.token_expires_at, limits=self.limits)


class Avatar(models.Model):
    """The model of an account's profile picture: a small WebP file, which is empty until it was fetched from the platform.

    Every connected account has a row except sandbox accounts, and disconnecting deletes it. `avatar_digest` of the account
    identifies the content. `source_url` is where it was fetched from, and `due_at` the time of the next attempt to fetch it.
    """

    account = models.OneToOneField(ConnectedAccount, on_delete=models.CASCADE, primary_key=True, related_name="avatar")
    content = models.BinaryField(default=b"")
    source_url = models.CharField(max_length=2048, blank=True)
    fetched_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(db_index=True)
    failures = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return f"Avatar of {self.account_id}"


class ConnectionAttempt(TimestampedModel):
    """The model of an OAuth connection attempt, which can be completed until `expires_at` and is then deleted.

    The state and the code are stored only as SHA-256 digests. Three values are stored encrypted: `begun` {state,
    authorization_url}, for a repeat of the call that began the attempt; `stored`, the values that the exchange needs;
    `opened`, the connections that the exchange returned. A single connection is deleted from `opened` when it is attached;
    several remain until the attempt expires. `used_at` is set when the exchange begins, which happens once.
    """

    id = PrefixedIdField("con")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=30)
    platform = models.CharField(max_length=20)
    state_sha256 = models.CharField(max_length=64, unique=True)
    redirect_uri = models.CharField(max_length=2048)
    begun = EncryptedJSONField(null=True)
    stored = EncryptedJSONField(null=True, db_column="kept")
    opened = EncryptedJSONField(null=True)
    code_sha256 = models.CharField(max_length=64, blank=True)
    used_at = models.DateTimeField(null=True)
    account = models.ForeignKey(ConnectedAccount, on_delete=models.CASCADE, null=True, related_name="+")
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.platform} by {self.actor_kind} {self.actor_id} ({self.id})"

    def was_begun_by(self, caller: Caller) -> bool:
        """Return whether this caller began the OAuth connection attempt that this ConnectionAttempt row stores."""
        return (self.actor_kind, self.actor_id) == (caller.kind, caller.actor_id)
