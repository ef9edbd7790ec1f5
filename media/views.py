"""API views of the media library."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import page_response_body
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet
from media import selectors, services
from media.models import MediaAsset
from media.serializers import (
    MEDIA_UPLOAD_RULES,
    DeleteMediaPreview,
    JsonUploadSerializer,
    MediaEnvelope,
    MediaPage,
    MediaQuery,
    UploadMediaPreview,
)


def media_response_for_repeated_upload(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the API view's response to an upload that repeats an Idempotency-Key: the media asset as it is now.

    The URLs of the first response may have expired.
    """
    return {"media": MediaAsset.objects.get(pk=record.resource_id)}


class MediaViewSet(OperationViewSet):
    @operation(
        "media.upload",
        summary="Upload a file to the media library",
        description=(
            "The type is detected from the content. The file is scanned and the location where it was recorded is removed "
            "before it is stored. `platforms` says which platforms accept it."
        ),
        access=Access("media.upload"),
        body=Body(JsonUploadSerializer, upload=MEDIA_UPLOAD_RULES),
        responses={201: MediaEnvelope},
        preview=UploadMediaPreview,
        # The lease is long enough to fetch, scan and store a long video.
        idempotency=Idempotency("lease", lease=timedelta(minutes=5), replay=media_response_for_repeated_upload),
        errors=(
            "FORBIDDEN",
            "MEDIA_TYPE_NOT_ALLOWED",
            "MEDIA_MALWARE_DETECTED",
            "MEDIA_SCAN_UNAVAILABLE",
            "MEDIA_QUOTA_EXCEEDED",
        ),
    )
    def create(self, call: Call) -> Reply | DryRunReply:
        asset = services.upload_media(caller=call.caller, dry_run=call.dry_run, **call.data)
        if call.dry_run:
            shown = {name: getattr(asset, name) for name in ("workspace_id", "filename", "alt_text")}
            url = {name: call.data[name] for name in ("source_url",) if name in call.data}
            return DryRunReply({**shown, **url}, asset, "would_create")
        return Reply({"media": asset}, 201, asset.id)

    @operation(
        "media.list",
        summary="List the media assets of a workspace, newest first",
        access=Access(selectors.LIST_SCOPES),
        query=MediaQuery,
        responses={200: MediaPage},
        errors=("NOT_FOUND",),
    )
    def list(self, call: Call) -> Reply:
        return Reply(page_response_body("media", selectors.list_assets(caller=call.caller, **call.query)))

    @operation(
        "media.delete",
        summary="Delete a media asset",
        description="Its URLs stop working at once. An asset used by an unfinished post cannot be deleted.",
        access=Access("media.upload"),
        responses={200: MediaEnvelope},
        preview=DeleteMediaPreview,
        idempotency=Idempotency("transaction"),
        errors=("FORBIDDEN", "NOT_FOUND", "MEDIA_IN_USE"),
    )
    def destroy(self, call: Call, media_id: str) -> Reply | DryRunReply:
        asset = services.delete_media(caller=call.caller, media_id=media_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, asset, "would_delete")
        return Reply({"media": asset}, resource_id=asset.id)
