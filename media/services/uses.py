"""Services that mark media assets as used by unfinished posts, so that these assets cannot be deleted."""

from __future__ import annotations

from collections.abc import Sequence

from config.api.errors import ValidationFailed
from config.db.writes import Write, build_delete_by_field_values_write
from media import selectors
from media.models import MediaUse


def set_media_used_by_post(*, holder_id: str, media_ids: Sequence[str]) -> None:
    """Mark the given media as used by a post (`holder_id`), and unmark media that it no longer uses.

    Runs in the caller's transaction. Locks the assets in the order of their ids, so that none is deleted meanwhile. Raises
    ValidationFailed naming each `media[…].media_id` that does not exist.
    """
    ready = selectors.undeleted_assets_of_all_workspaces().filter(pk__in=media_ids).select_for_update().order_by("pk")
    found = set(ready.values_list("pk", flat=True))
    if missing := [index for index, media_id in enumerate(media_ids) if media_id not in found]:
        problem = {"code": "not_found", "message": "This media asset does not exist."}
        raise ValidationFailed(details=[{"field": f"media[{index}].media_id", **problem} for index in missing])
    MediaUse.objects.filter(holder_id=holder_id).exclude(media_id__in=found).delete()
    MediaUse.objects.bulk_create(
        (MediaUse(holder_id=holder_id, media_id=media_id) for media_id in sorted(found)), ignore_conflicts=True
    )


def writes_that_delete_media_uses(holder_ids: Sequence[str]) -> list[Write]:
    """Return the database writes that end the use of media by these posts (PostGroups), so that the media can be deleted."""
    return [build_delete_by_field_values_write(MediaUse, "holder_id", holder_ids)] if holder_ids else []
