"""Connected accounts."""

from __future__ import annotations

from django.db import models

from accounts.platforms.types import Grant
from config.db.encryption import EncryptedJSONField
from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel
from workspaces.models import Workspace


class ConnectedAccount(TimestampedModel):
    """A workspace's account at a platform. `credentials` and `tokens` are sealed at rest and bound to this row.

    `refresh_lease_until` is held by the one worker that renews the tokens; `paced_until` is when the turns that were
    given out end (services/pace.py).
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        NEEDS_REAUTH = "needs_reauth"
        DISCONNECTED = "disconnected"

    class Method(models.TextChoices):
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
    profile_url = models.CharField(max_length=2048, blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ACTIVE)
    scopes = models.JSONField(default=list)
    credentials = EncryptedJSONField(null=True)
    tokens = EncryptedJSONField(null=True)
    token_expires_at = models.DateTimeField(null=True)
    refresh_lease_until = models.DateTimeField(null=True)
    paced_until = models.DateTimeField(null=True)
    last_checked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "platform", "external_id"], name="account_once"),
            models.CheckConstraint(
                condition=models.Q(status__in=["active", "needs_reauth", "disconnected"]), name="account_status_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.platform} {self.handle} ({self.id})"

    def grant(self) -> Grant:
        """What opens the account. Raises SealedValueError when no key opens it."""
        return Grant(self.credentials or {}, self.tokens or {}, self.external_id, self.token_expires_at)
