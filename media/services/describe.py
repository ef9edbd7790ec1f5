"""Saying what an asset shows, for who cannot see it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, not_found_error
from media import selectors
from media.models import MediaAsset


def describe_media(*, caller: Caller, media_id: str, alt_text: str) -> MediaAsset:
    """Set the asset's alt text; "" takes it away. A text that it has already is not on record again.

    A post without an alt text of its own takes the asset's when it goes out, so unfinished posts have the new one.
    Raises ScopeMissing, NotFound, WorkspacePaused.
    """
    asset = selectors.get_asset(caller=caller, media_id=media_id, scope="media.upload", write=True)
    if asset.alt_text == alt_text:
        return asset
    with transaction.atomic():
        if not selectors.ready_assets().filter(pk=asset.pk).update(alt_text=alt_text, updated_at=timezone.now()):
            raise not_found_error(None, "media asset")  # deleted a moment ago
        record(
            caller=caller,
            operation="media.describe",
            workspace_id=asset.workspace_id,
            resource_type="media",
            resource_id=asset.id,
            metadata={"kind": asset.kind, "alt_text_length": len(alt_text)},
        )
    asset.refresh_from_db()
    return asset
