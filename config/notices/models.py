"""The models of notices: the notices, the digests that collect them, each member's choice, and channels beside e-mail."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.db.encryption import EncryptedJSONField
from config.db.ids import ID_LENGTH
from config.db.models import DueRow, TimestampedModel
from workspaces.models import Member, Workspace

MIN_PAUSE, MAX_PAUSE = timedelta(minutes=10), timedelta(hours=6)


class NoticeKind(models.TextChoices):
    """The kinds of e-mail notices as the models store them; each member can turn each kind on or off."""

    APPROVAL = "approval", _("A post waits for approval")
    POST = "post", _("A post failed, or it is not known whether it is out")
    ACCOUNT = "account", _("An account has to be reconnected")
    DELIVERY = "delivery", _("A webhook delivery was given up")
    BUDGET = "budget", _("80 % or all of a month's budget is used")
    SERIES = "series", _("A post of a series could not be scheduled")
    KEY = "key", _("An API key was used from another network")


# These recur for as long as something is broken. The other kinds each need one response.
REPEATING_KINDS = (NoticeKind.POST, NoticeKind.ACCOUNT, NoticeKind.DELIVERY, NoticeKind.SERIES, NoticeKind.KEY)


class NewsCursor(models.Model):
    """The model of the time up to which events were searched for notices of one kind; its row is locked during a search."""

    kind = models.CharField(primary_key=True, max_length=10, choices=NoticeKind.choices)
    seen_until = models.DateTimeField()

    class Meta:
        db_table = "site_newscursor"

    def __str__(self) -> str:
        return f"{self.kind} until {self.seen_until:%H:%M:%S}"


class Digest(models.Model):
    """The model of when a workspace gets its next e-mail with all notices of one kind; `due_at` is null if none waits.

    E-mails are at least `pause` apart; the pause grows while a repeating problem continues (REPEATING_KINDS). Lock the row
    while writing notices of this kind and workspace.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=NoticeKind.choices)
    due_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True, db_column="told_at")
    pause = models.DurationField(default=timedelta(0))

    class Meta:
        db_table = "site_digest"
        constraints = [models.UniqueConstraint(fields=["workspace", "kind"], name="digest_once")]
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="digest_due")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_id}"

    def set_due_at_if_null_unsaved(self, now: datetime) -> None:
        """Set `due_at` of this Digest row, if null, without saving: to now, or to the end of the pause after an e-mail."""
        if self.due_at is None:
            self.due_at = max(now, self.sent_at + self.pause) if self.sent_at else now

    def mark_sent_or_skipped_unsaved(self, now: datetime, *, sent: bool) -> None:
        """Clear `due_at` of this Digest row without saving; if an e-mail was sent, also set `sent_at` and the next pause."""
        self.due_at = None
        if sent:
            goes_on = self.sent_at is not None and now < self.sent_at + 2 * self.pause
            longer = goes_on and self.kind in REPEATING_KINDS
            self.pause = min(2 * self.pause, MAX_PAUSE) if longer else MIN_PAUSE
            self.sent_at = now


class Notice(models.Model):
    """The model of notices, such as of a failed post, each reported once by e-mail; `occurrence` and `at` identify the event.

    `about` is the id of the affected resource, "" for a budget. `settled_at` is when it was reported, or found resolved.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=NoticeKind.choices)
    occurrence = models.CharField(max_length=64)
    at = models.DateTimeField()
    about = models.CharField(max_length=ID_LENGTH, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "site_notice"
        constraints = [models.UniqueConstraint(fields=["kind", "occurrence", "at"], name="notice_once")]
        indexes = [models.Index(fields=["workspace", "kind"], condition=Q(settled_at__isnull=True), name="notice_untold")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_id}"


class NoticeChoice(models.Model):
    """The model of the kinds of e-mail notices that one member has turned on or off; without a row, the role decides."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE, primary_key=True, related_name="notice_choice")
    chosen = models.JSONField(default=dict)  # {kind: bool}

    class Meta:
        db_table = "site_noticechoice"

    def __str__(self) -> str:
        return f"notices of member {self.member_id}"


class ChannelKind(models.TextChoices):
    """The kinds of notice channels in the models: Slack, Telegram and webhook receivers."""

    SLACK = "slack", "Slack"
    TELEGRAM = "telegram", "Telegram"
    WEBHOOK = "webhook", "Webhook"


class NoticeChannel(TimestampedModel):
    """The model of a channel to which a workspace sends notices: a Slack or Telegram chat, or a webhook receiver.

    `destination` is as `channels/destinations.py` returns it. A channel is paused by a person, or by the service if the
    receiver refuses it for good; `pause_reason` then says why.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=ChannelKind.choices)
    name = models.CharField(max_length=60)
    destination = EncryptedJSONField()
    notice_kinds = models.JSONField(default=list)  # values of NoticeKind
    language = models.CharField(max_length=5, default="en", db_default="en")  # of the texts of its notices
    paused_at = models.DateTimeField(null=True)
    pause_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="notice_channel_name_once")]

    def __str__(self) -> str:
        return f"{self.kind} channel {self.pk}"


class ChannelMessage(DueRow):
    """The model of a notice on its way to a channel. Its body is encrypted, and deleted once it is sent or given up.

    `notice_kind` is empty for a test notice. `attempts` counts the attempts that were begun.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.ForeignKey(NoticeChannel, on_delete=models.CASCADE, related_name="messages")
    notice_kind = models.CharField(max_length=10, choices=NoticeKind.choices, blank=True)
    body = EncryptedJSONField(null=True)  # the JSON of the request
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="channel_message_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["created_at"], name="channel_message_age"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
