"""The service that sets a media asset's alt text."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record_entry
from config.api.caller import Caller
from config.api.errors import missing_or_foreign_id_error
from media import selectors
from media.models import MediaAsset


def set_alt_text(*, caller: Caller, media_id: str, alt_text: str) -> MediaAsset:
    """Describe a media asset: set its alt text.

    An unchanged text is not recorded again in the audit log. Unfinished posts without an alt text of their own are published
    with the new one. Raises ScopeMissing, NotFound, WorkspacePaused.
    """
    asset = selectors.get_asset(caller=caller, media_id=media_id, scope="media.upload", write=True)
    if asset.alt_text == alt_text:
        return asset
    with transaction.atomic():
        if (
            not selectors.undeleted_assets_of_all_workspaces()
            .filter(pk=asset.pk)
            .update(alt_text=alt_text, updated_at=timezone.now())
        ):
            raise missing_or_foreign_id_error(None, "media asset")  # deleted a moment ago
        record_entry(
            caller=caller,
            operation="media.describe",
            workspace_id=asset.workspace_id,
            resource_type="media",
            resource_id=asset.id,
            metadata={"kind": asset.kind, "alt_text_length": len(alt_text)},
        )
    asset.refresh_from_db()
    return asset
