"""A person's preference whether the dashboard waits some seconds before it publishes a post, so that this can be undone."""

from __future__ import annotations

from config.api.caller import Caller
from posts.models import PublishingPreference


def skips_undo_delay(*, caller: Caller) -> bool:
    """Return whether the calling person wants the dashboard to publish posts at once, without a delay for undoing it."""
    return PublishingPreference.objects.filter(user_id=caller.actor_id, skips_undo_delay=True).exists()


def save_whether_undo_delay_is_skipped(*, caller: Caller, skips_delay: bool) -> None:
    """Save whether the calling person wants the dashboard to publish posts at once, without a delay for undoing it."""
    PublishingPreference.objects.update_or_create(user_id=caller.actor_id, defaults={"skips_undo_delay": skips_delay})
