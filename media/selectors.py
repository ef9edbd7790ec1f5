"""Reads of media assets. Deleted ones are there for nobody."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from config.api.caller import Caller, absent, require
from config.api.paging import Page, paginate
from config.api.scopes import AnyOf, any_of
from config.db.ids import is_id
from media.models import MediaAsset

LIST_SCOPES: AnyOf = any_of("media.upload", "posts.read")


def ready_assets() -> QuerySet[MediaAsset]:
    return MediaAsset.objects.filter(status=MediaAsset.Status.READY)


def library_of(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[MediaAsset]:
    """The workspace's assets, newest first. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, LIST_SCOPES, write=False)
    return paginate(ready_assets().filter(workspace_id=workspace_id), limit=limit, cursor=cursor)


def asset_of(*, caller: Caller, media_id: str, scope: str, write: bool) -> MediaAsset:
    """An asset that exists for this caller. Raises ScopeMissing, NotFound, WorkspacePaused."""
    asset = ready_assets().filter(pk=media_id).first() if is_id(media_id, "med") else None
    if asset is None:
        raise absent(None, "media asset")
    require(caller, asset.workspace_id, scope, write=write, noun="media asset")
    return asset


def assets_of(*, workspace_id: str, ids: Iterable[str]) -> dict[str, MediaAsset]:
    """Those of these assets that the workspace holds, by id: one query."""
    return ready_assets().filter(workspace_id=workspace_id).in_bulk(list(ids))
