"""The kinds of webhook events: changes of post groups and of their single targets, of series, and of API keys."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_noop


class EventKind(TextChoices):
    """The kinds of webhook events with their descriptions. Success and failure always have different kinds.

    The descriptions are in English; pages translate them.
    """

    SCHEDULED = "post.scheduled", gettext_noop("A post was scheduled, or scheduled for another time.")
    PUBLISHED = "post.published", gettext_noop("A post was published to all of its targets.")
    PARTIAL = "post.partial", gettext_noop("A post was published to some of its targets and failed on others.")
    FAILED = "post.failed", gettext_noop("A post failed on all of its targets.")
    UNCONFIRMED = (
        "post.unconfirmed",
        gettext_noop("For at least one target it is unknown whether the platform published the post."),
    )
    CANCELLED = "post.cancelled", gettext_noop("A post was cancelled before it was published.")
    PENDING_CONFIRMATION = "post.pending_confirmation", gettext_noop("A post waits for a person to confirm it.")
    CONFIRMED = "post.confirmed", gettext_noop("A person confirmed a post.")
    REJECTED = "post.rejected", gettext_noop("A person rejected a post.")
    TARGET_PUBLISHED = "post.target.published", gettext_noop("One target of a post for several was published.")
    TARGET_FAILED = "post.target.failed", gettext_noop("One target of a post for several failed.")
    TARGET_UNCONFIRMED = "post.target.unconfirmed", gettext_noop("It is unknown whether one target of several was published.")
    OCCURRENCE_REFUSED = "series.occurrence_refused", gettext_noop("A post of a series could not be scheduled.")
    KEY_NEW_NETWORK = "api_key.new_network", gettext_noop("An API key was used from a network for the first time.")


# Events after which only a person can continue.
EVENT_KINDS_NEEDING_A_PERSON = (EventKind.PENDING_CONFIRMATION, EventKind.UNCONFIRMED, EventKind.FAILED, EventKind.PARTIAL)

# Stored and shown to owners as notices; no webhook delivers them.
UNDELIVERED_KINDS = (EventKind.OCCURRENCE_REFUSED, EventKind.KEY_NEW_NETWORK)
DELIVERED_KINDS = tuple(kind for kind in EventKind if kind not in UNDELIVERED_KINDS)
DELIVERED_KIND_CHOICES = [(kind.value, kind.label) for kind in DELIVERED_KINDS]
