"""What has come up and is to be told, when each workspace is next told of it, and who wants to hear of what."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.db.ids import LENGTH
from workspaces.models import Member, Workspace

MIN_PAUSE, MAX_PAUSE = timedelta(minutes=10), timedelta(hours=6)


class NoticeKind(models.TextChoices):
    """What people are told of; each kind can be turned off."""

    APPROVAL = "approval", "A post waits for approval"
    POST = "post", "A post failed, or it is not known whether it is out"
    ACCOUNT = "account", "An account has to be reconnected"
    DELIVERY = "delivery", "A webhook delivery was given up"
    BUDGET = "budget", "80 % or all of a month's budget is used"
    KEY = "key", "An API key was used from another network"


# These come up by themselves, again and again for as long as something is broken. The others each ask for an answer.
REPEATING_KINDS = (NoticeKind.POST, NoticeKind.ACCOUNT, NoticeKind.DELIVERY, NoticeKind.KEY)


class NewsCursor(models.Model):
    """Up to when news of a kind have been taken down. Whoever takes some down holds the row's lock."""

    kind = models.CharField(primary_key=True, max_length=10, choices=NoticeKind.choices)
    seen_until = models.DateTimeField()

    class Meta:
        db_table = "site_newscursor"

    def __str__(self) -> str:
        return f"{self.kind} until {self.seen_until:%H:%M:%S}"


class Digest(models.Model):
    """The notices of one kind of a workspace, which are told together: `due_at` is when (null: there are none).

    From one e-mail to the next `pause` goes by; it grows while what repeats itself goes on (REPEATING_KINDS). Whoever
    writes notices of this kind and workspace holds the row's lock.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=10, choices=NoticeKind.choices)
    due_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    pause = models.DurationField(default=timedelta(0))

    class Meta:
        db_table = "site_digest"
        constraints = [models.UniqueConstraint(fields=["workspace", "kind"], name="digest_once")]
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="digest_due")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_id}"

    def schedule(self, now: datetime) -> None:
        """There is something to tell: at once, or when the pause since the last e-mail is over."""
        if self.due_at is None:
            self.due_at = max(now, self.told_at + self.pause) if self.told_at else now

    def mark_sent(self, now: datetime, *, sent: bool) -> None:
        """Everything is told (or nothing of it was worth an e-mail any more)."""
        self.due_at = None
        if sent:
            goes_on = self.told_at is not None and now < self.told_at + 2 * self.pause
            longer = goes_on and self.kind in REPEATING_KINDS
            self.pause = min(2 * self.pause, MAX_PAUSE) if longer else MIN_PAUSE
            self.told_at = now


class Notice(models.Model):
    """One occurrence that is told once: of an event, an account, a delivery or a budget (`occurrence`) at its time.

    `about` is the id of what the e-mail speaks of, "" for a budget. `settled_at` is when it was told, or when it turned
    out that there was nothing to tell any more.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=NoticeKind.choices)
    occurrence = models.CharField(max_length=64)
    at = models.DateTimeField()
    about = models.CharField(max_length=LENGTH, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "site_notice"
        constraints = [models.UniqueConstraint(fields=["kind", "occurrence", "at"], name="notice_once")]
        indexes = [
            models.Index(fields=["workspace", "kind"], condition=Q(settled_at__isnull=True), name="notice_untold")
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_id}"


class NoticeChoice(models.Model):
    """What a member has chosen, by kind; where they have not, owners and admins hear of everything, members of nothing."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE, primary_key=True, related_name="notice_choice")
    chosen = models.JSONField(default=dict)  # {kind: bool}

    class Meta:
        db_table = "site_noticechoice"

    def __str__(self) -> str:
        return f"notices of member {self.member_id}"
