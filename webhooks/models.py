"""The models of webhooks: signing secrets, events and deliveries."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.db.encryption import EncryptedJSONField
from config.db.ids import ID_LENGTH, PrefixedIdField
from config.db.models import DueRow, TimestampedModel
from webhooks.event_kinds import EVENT_KINDS_NEEDING_A_PERSON, EventKind
from workspaces.models import Workspace


class SigningSecret(TimestampedModel):
    """The model of a workspace's webhook signing secret, and for a day after a rotation also the previous secret."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="+")
    secret = EncryptedJSONField()
    previous_secret = EncryptedJSONField(null=True)
    previous_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"signing secret of {self.workspace_id}"

    def valid_secrets_at(self, now: datetime) -> tuple[str, ...]:
        """Return the secrets in this SigningSecret row that sign webhook deliveries at the given time, newest first."""
        if self.previous_secret and self.previous_until and now < self.previous_until:
            return (self.secret, self.previous_secret)
        return (self.secret,)


class Event(models.Model):
    """The model of a webhook event of a post group or of another object, such as an API key.

    Either `post_group_id` or `subject_id` is set; `sequence` counts its events. `payload` is the exact body of every delivery
    attempt. Events of other objects are stored but not delivered.
    """

    id = PrefixedIdField("evt")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40, choices=EventKind.choices)
    post_group_id = models.CharField(max_length=ID_LENGTH, null=True)
    subject_id = models.CharField(max_length=ID_LENGTH, null=True)
    target_id = models.CharField(max_length=ID_LENGTH, null=True)
    sequence = models.PositiveIntegerField()
    payload = models.BinaryField()
    sandbox = models.BooleanField()
    trace_id = models.CharField(max_length=32)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["post_group_id", "sequence"], name="event_sequence_once"),
            models.UniqueConstraint(
                fields=["subject_id", "sequence"], name="event_subject_sequence_once", condition=Q(subject_id__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["sandbox", "created_at"], name="event_retention"),
            models.Index(
                fields=["created_at"],
                name="event_for_a_person",
                condition=Q(sandbox=False, kind__in=[str(kind) for kind in EVENT_KINDS_NEEDING_A_PERSON]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.id})"


class DeliveryStatus(models.TextChoices):
    """The statuses in the Delivery model: a dead letter is given up, and is sent again only by a replay."""

    PENDING = "pending"  # not attempted yet, or replayed
    RETRYING = "retrying"
    DELIVERED = "delivered"
    DEAD_LETTER = "dead_letter"


UNFINISHED_DELIVERY_STATUSES = [DeliveryStatus.PENDING, DeliveryStatus.RETRYING]
FINISHED_DELIVERY_STATUSES = [DeliveryStatus.DELIVERED, DeliveryStatus.DEAD_LETTER]


class Delivery(DueRow):
    """The model of a webhook event's delivery to one URL; `due_at` is the time of the next attempt, null if there is none.

    `host` is the URL's host and port, "" if the URL is not allowed. `attempts` counts across replays; `earlier_attempts` are
    those before the last replay, after which the retry schedule starts again.
    """

    id = PrefixedIdField("dlv")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    url = models.CharField(max_length=2048)
    host = models.CharField(max_length=264, blank=True)
    status = models.CharField(max_length=12, choices=DeliveryStatus.choices, default=DeliveryStatus.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    earlier_attempts = models.PositiveIntegerField(default=0)
    last_status_code = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=1000, null=True)
    last_response_excerpt = models.CharField(max_length=1024, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)  # when it was last given up; a replay clears only the status

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            # Indexes only unfinished deliveries, so that old deliveries do not slow down the claims.
            models.Index(fields=["due_at", "id"], condition=Q(due_at__isnull=False), name="delivery_due"),
            models.Index(fields=["workspace", "id"], name="delivery_workspace"),
            models.Index(fields=["id"], condition=Q(status="dead_letter"), name="delivery_given_up"),
            models.Index(fields=["given_up_at"], condition=Q(status="dead_letter"), name="delivery_given_up_at"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=DeliveryStatus.values), name="delivery_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=UNFINISHED_DELIVERY_STATUSES, due_at__isnull=False)
                | Q(status__in=FINISHED_DELIVERY_STATUSES, due_at__isnull=True),
                name="delivery_due_until_finished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} to {self.host}"

    def is_in_flight(self, now: datetime) -> bool:
        """Return whether a worker is sending this Delivery row now, that is, whether its claim has not expired."""
        return self.lease_until is not None and self.lease_until > now

    def mark_delivered_unsaved(self, now: datetime) -> None:
        """Mark this Delivery row as delivered, without saving it."""
        self.status, self.due_at, self.delivered_at = DeliveryStatus.DELIVERED, None, now

    def mark_retrying_unsaved(self, due_at: datetime) -> None:
        """Mark this Delivery row as to be sent again at `due_at`, without saving it."""
        self.status, self.due_at = DeliveryStatus.RETRYING, due_at

    def mark_dead_letter_unsaved(self, now: datetime) -> None:
        """Mark this Delivery row as given up (a dead letter), without saving it."""
        self.status, self.due_at, self.given_up_at = DeliveryStatus.DEAD_LETTER, None, now

    def reset_for_replay_unsaved(self, now: datetime) -> None:
        """Reset this Delivery row for a replay, without saving it: its retry schedule starts again.

        A new fence number makes the results of older attempts ineffective.
        """
        self.status, self.due_at, self.delivered_at = DeliveryStatus.PENDING, now, None
        self.earlier_attempts = self.attempts
        self.fence += 1
        self.lease_until = None
