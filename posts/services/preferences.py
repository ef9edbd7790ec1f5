"""A person's choice whether posts that are published in the dashboard wait ten seconds, in which this can be undone."""

from __future__ import annotations

from config.api.caller import Caller
from posts.models import PublishingPreference


def publishes_at_once(*, caller: Caller) -> bool:
    """Return whether the calling person chose that posts are published in the dashboard without waiting."""
    return PublishingPreference.objects.filter(user_id=caller.actor_id, at_once=True).exists()


def choose_publishing_at_once(*, caller: Caller, at_once: bool) -> None:
    """Save whether posts that the calling person publishes in the dashboard are published without waiting."""
    PublishingPreference.objects.update_or_create(user_id=caller.actor_id, defaults={"at_once": at_once})
