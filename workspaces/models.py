"""Models of users, their sessions and sign-in links, workspaces, members, invitations, outgoing e-mail and snippets."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from config.api.caller import WorkspaceStatus
from config.db.encryption import EncryptedJSONField
from config.db.ids import PrefixedIdField
from config.db.models import DueRow, TimestampedModel


class UserManager(BaseUserManager["User"]):
    """The Django model manager of users; the command `createsuperuser` creates operators with it."""

    def create_user(self, username: str = "", password: str | None = None, **fields: Any) -> User:
        user = self.model(username=username, **fields)
        user.username = username or user.id
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> User:
        """Create a User row of an operator for `createsuperuser`. Raises ValidationError for a weak password."""
        if password is not None:
            validate_password(password, self.model(username=username, **fields))
        return self.create_user(username, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin, TimestampedModel):
    """The model of a user: a person or a program. Provider users are identified by issuer and subject, not by e-mail."""

    id = PrefixedIdField("usr")
    username = models.CharField(max_length=150, unique=True)
    email = models.EmailField(blank=True)
    email_verified = models.BooleanField(default=False)  # by the identity provider, or by a sign-in by e-mail
    display_name = models.CharField(max_length=200, blank=True)
    identity_issuer = models.CharField(max_length=255, blank=True)
    identity_subject = models.CharField(max_length=255, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    language = models.CharField(max_length=5, blank=True, default="", db_default="")  # of pages; "": as the browser says
    session_epoch = models.PositiveIntegerField(default=0)  # raising this number ends all earlier sessions

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
        indexes = [models.Index(fields=["email"], condition=models.Q(email_verified=True), name="user_verified_email")]

    def __str__(self) -> str:
        return self.display_name or self.username

    @property
    def is_deleted(self) -> bool:
        return not self.is_active

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that the user's valid sessions contain. A new password or a sign-out everywhere changes it."""
        seal = f"{self.password}:{self.session_epoch}"
        return salted_hmac("workspaces.session", seal, secret=secret, algorithm="sha256").hexdigest()

    def clear_personal_data_unsaved(self) -> None:
        """Clear this User row's personal data, password and rights in memory; the caller saves the row.

        The row stays, because other rows refer to it.
        """
        self.username, self.email = self.id, f"deleted+{self.id}@users.invalid"
        self.display_name = self.identity_issuer = self.identity_subject = ""
        self.email_verified = self.is_active = self.is_staff = self.is_superuser = False
        self.last_login = None
        self.set_unusable_password()


class UserSession(models.Model):
    """The model of a user's browser session, as shown to the user. It is deleted together with Django's session."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, db_constraint=False, related_name="user_session")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sessions")
    signed_in_at = models.DateTimeField()
    last_used_at = models.DateTimeField()
    ip = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=400, blank=True)

    def __str__(self) -> str:
        return f"Session {self.pk} of {self.user_id}"


WORKSPACE_FIELDS_IN_PLANS = (  # the fields of a workspace in the plans of operations on it
    *("name", "default_timezone", "free_monthly_credit_cents", "monthly_spend_cap_cents", "monthly_social_url_post_cap"),
    "commit_pack_id",
)


class Workspace(TimestampedModel):
    """The model of a workspace, which has its own members, data and bill. Amounts of money are in US cents."""

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
    owner_paused_at = models.DateTimeField(null=True)  # both pauses are independent (services/workspaces.py)
    operator_paused_at = models.DateTimeField(null=True)
    retention_tier = models.CharField(max_length=12, default="free")
    editors_need_approval = models.BooleanField(default=False, db_default=False)  # before their posts go out

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=WorkspaceStatus.values), name="workspace_status_known")
        ]
        indexes = [models.Index(fields=["processor_customer_id"], name="workspace_customer")]

    def __str__(self) -> str:
        return f"{self.name} ({self.id})"

    @property
    def paused_by(self) -> list[str]:
        """Return who has paused this Workspace row: its owner, an operator of the service, both or nobody."""
        pauses = {"owner": self.owner_paused_at, "operator": self.operator_paused_at}
        return [who for who, since in pauses.items() if since]


class Member(TimestampedModel):
    """The model of a user's membership in a workspace, with the user's role.

    What each role may do is in `SCOPES_OF_ROLES`. "member" is the API's word for a viewer.
    """

    class Role(models.TextChoices):
        OWNER = "owner", _("Owner")
        ADMIN = "admin", _("Admin")
        EDITOR = "editor", _("Editor")
        MEMBER = "member", _("Viewer")

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="member_once"),
            models.UniqueConstraint(fields=["workspace"], condition=models.Q(role="owner"), name="member_one_owner"),
            models.CheckConstraint(
                condition=models.Q(role__in=["owner", "admin", "editor", "member"]), name="member_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of {self.workspace_id}"


class EndedIdentity(models.Model):
    """The model of a deleted user's hashed issuer and subject, by which the user's old provider tokens are refused."""

    digest = models.CharField(max_length=64, primary_key=True)
    ended_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "ended identities"

    def __str__(self) -> str:
        return self.digest

    @staticmethod
    def digests_of_identity(issuer: str, subject: str) -> list[str]:
        """Return the keyed hashes of an identity for EndedIdentity rows: by SECRET_KEY and each of SECRET_KEY_FALLBACKS."""
        keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        named = f"{issuer}\n{subject}"
        return [salted_hmac("workspaces.ended", named, secret=key, algorithm="sha256").hexdigest() for key in keys]


class OutgoingMail(DueRow):
    """The model of an e-mail that a worker sends. Its content is encrypted, and deleted once it is sent or given up."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    content = EncryptedJSONField(null=True)  # as services/mail.py writes it
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=100, blank=True)
    sent_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="mail_due", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["created_at"], name="mail_age"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def is_given_up(self) -> bool:
        """Return whether this OutgoingMail row was given up: it could not be sent and is not tried again."""
        return self.sent_at is None and self.due_at is None


class SignInLink(models.Model):
    """The model of a link by which the owner of an e-mail address signs in once. Its token is only in the e-mail."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    email = models.EmailField(db_index=True)  # as `normalized_email_or_empty` returns it
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"Sign-in link {self.pk}"


class Invitation(TimestampedModel):
    """The model of an invitation of an e-mail address to a workspace; deleted when it is accepted or withdrawn."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()  # as `normalized_email_or_empty` returns it
    role = models.CharField(max_length=10, choices=[each for each in Member.Role.choices if each[0] != Member.Role.OWNER])
    token_sha256 = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    mail = models.ForeignKey(OutgoingMail, on_delete=models.SET_NULL, null=True, related_name="+")
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "email"], name="invitation_open_once"),
            models.CheckConstraint(condition=models.Q(role__in=["admin", "editor", "member"]), name="invitation_role_known"),
        ]

    def __str__(self) -> str:
        return f"Invitation {self.pk} to {self.workspace_id}"


class Snippet(TimestampedModel):
    """The model of a text that a workspace's members often insert into posts: a group of hashtags, or a signature."""

    class Kind(models.TextChoices):
        HASHTAGS = "hashtags", _("Hashtags")
        SIGNATURE = "signature", _("Signature")

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="snippets", db_index=False
    )  # no index of its own, because snippet_name_once covers this foreign key
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    text = models.TextField(max_length=2000)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="snippet_name_once"),
            models.CheckConstraint(condition=models.Q(kind__in=["hashtags", "signature"]), name="snippet_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} of {self.workspace_id}"

    @property
    def inserted_text(self) -> str:
        """Return this Snippet row's text as the composer inserts it: a signature as a paragraph, hashtags after a space."""
        return f"\n\n{self.text}" if self.kind == self.Kind.SIGNATURE else f" {self.text}"
