"""A person's preference whether posts published in the dashboard first wait some seconds, in which that can be undone."""

from __future__ import annotations

from config.api.caller import Caller
from posts.models import PublishingPreference


def skips_undo_delay(*, caller: Caller) -> bool:
    """Return the calling person's preference whether the dashboard publishes posts without the seconds for undoing it."""
    return PublishingPreference.objects.filter(user_id=caller.actor_id, skips_undo_delay=True).exists()


def save_undo_delay_preference(*, caller: Caller, skips_delay: bool) -> None:
    """Save the calling person's preference whether the dashboard publishes posts without the seconds for undoing it."""
    PublishingPreference.objects.update_or_create(user_id=caller.actor_id, defaults={"skips_undo_delay": skips_delay})
