"""The models of e-mail notices: the notices, the e-mails that collect them (digests), and each member's choice."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.db.ids import ID_LENGTH
from workspaces.models import Member, Workspace

MIN_PAUSE, MAX_PAUSE = timedelta(minutes=10), timedelta(hours=6)


class NoticeKind(models.TextChoices):
    """The kinds of e-mail notices as the models store them; each member can turn each kind on or off."""

    APPROVAL = "approval", "A post waits for approval"
    POST = "post", "A post failed, or it is not known whether it is out"
    ACCOUNT = "account", "An account has to be reconnected"
    DELIVERY = "delivery", "A webhook delivery was given up"
    BUDGET = "budget", "80 % or all of a month's budget is used"
    SERIES = "series", "A post of a series could not be scheduled"
    KEY = "key", "An API key was used from another network"


# These recur for as long as something is broken. The other kinds each need one response.
REPEATING_KINDS = (NoticeKind.POST, NoticeKind.ACCOUNT, NoticeKind.DELIVERY, NoticeKind.SERIES, NoticeKind.KEY)


class NewsCursor(models.Model):
    """For each kind of e-mail notice, the time up to which events are stored as notices; locked while storing more."""

    kind = models.CharField(primary_key=True, max_length=10, choices=NoticeKind.choices)
    seen_until = models.DateTimeField()

    class Meta:
        db_table = "site_newscursor"

    def __str__(self) -> str:
        return f"{self.kind} until {self.seen_until:%H:%M:%S}"


class Digest(models.Model):
    """The schedule of a workspace's e-mails with all notices of one kind: one row, `due_at` null if no notice is waiting.

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

    def schedule(self, now: datetime) -> None:
        """Set `due_at`, without saving, unless it is set: to now, or to the end of the pause after the last e-mail."""
        if self.due_at is None:
            self.due_at = max(now, self.sent_at + self.pause) if self.sent_at else now

    def mark_sent_or_skipped(self, now: datetime, *, sent: bool) -> None:
        """Clear `due_at`, without saving; if an e-mail was sent, also set `sent_at` and choose the pause that follows."""
        self.due_at = None
        if sent:
            goes_on = self.sent_at is not None and now < self.sent_at + 2 * self.pause
            longer = goes_on and self.kind in REPEATING_KINDS
            self.pause = min(2 * self.pause, MAX_PAUSE) if longer else MIN_PAUSE
            self.sent_at = now


class Notice(models.Model):
    """The model of notices, each reported once by e-mail, such as a failed post; `occurrence` is the key against repeats.

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
    """Which kinds of notices one member wants, all in one row; members without a row get the default of their role."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE, primary_key=True, related_name="notice_choice")
    chosen = models.JSONField(default=dict)  # {kind: bool}

    class Meta:
        db_table = "site_noticechoice"

    def __str__(self) -> str:
        return f"notices of member {self.member_id}"
