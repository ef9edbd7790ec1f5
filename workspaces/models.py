"""Users, the workspaces that they own, and who else belongs to them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models

from config.api.caller import WorkspaceStatus
from config.db.ids import PrefixedIdField
from config.db.models import TimestampedModel


class UserManager(BaseUserManager["User"]):
    """Makes people; `createsuperuser` makes operators."""

    def create_user(self, username: str = "", password: str | None = None, **fields: Any) -> User:
        user = self.model(username=username, **fields)
        user.username = username or user.id
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(username, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin, TimestampedModel):
    """A person. Whoever signs in through a provider is (issuer, subject); an e-mail address never links two people."""

    id = PrefixedIdField("usr")
    username = models.CharField(max_length=150, unique=True)
    email = models.EmailField(blank=True)
    display_name = models.CharField(max_length=200, blank=True)
    identity_issuer = models.CharField(max_length=255, blank=True)
    identity_subject = models.CharField(max_length=255, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)

    objects = UserManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["email"]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["identity_issuer", "identity_subject"],
                condition=~models.Q(identity_subject=""),
                name="user_identity_unique",
            )
        ]

    def __str__(self) -> str:
        return self.display_name or self.username

    @property
    def is_deleted(self) -> bool:
        return not self.is_active

    def erase(self) -> None:
        """Forget who this was. The row stays, since others refer to it; no session outlives the change of password."""
        self.username, self.email = self.id, f"deleted+{self.id}@users.invalid"
        self.display_name = self.identity_issuer = self.identity_subject = ""
        self.is_active = self.is_staff = self.is_superuser = False
        self.last_login = None
        self.set_unusable_password()


class Workspace(TimestampedModel):
    """The billing and isolation unit. Money is in cents of one currency (USD)."""

    id = PrefixedIdField("wrk")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True)
    owner_user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="owned_workspaces")
    processor_customer_id = models.CharField(max_length=255, blank=True)
    default_timezone = models.CharField(max_length=64, default="UTC")
    free_monthly_credit_cents = models.PositiveBigIntegerField(default=100)
    monthly_spend_cap_cents = models.PositiveBigIntegerField(default=0)
    monthly_social_url_post_cap = models.PositiveBigIntegerField(default=0)
    commit_pack_id = models.CharField(max_length=200, null=True)
    status = models.CharField(max_length=10, choices=WorkspaceStatus.choices, default=WorkspaceStatus.ACTIVE)
    retention_tier = models.CharField(max_length=12, default="free")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=WorkspaceStatus.values), name="workspace_status_known")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.id})"


class Member(TimestampedModel):
    """A person's role in a workspace."""

    class Role(models.TextChoices):
        OWNER = "owner"
        ADMIN = "admin"
        MEMBER = "member"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="member_once"),
            models.CheckConstraint(condition=models.Q(role__in=["owner", "admin", "member"]), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of {self.workspace_id}"
