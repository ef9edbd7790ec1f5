"""Database queries that read media assets; most of them leave out deleted assets."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from config.api.caller import Caller, require_access
from config.api.errors import missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first, paginate_with_scan_limit
from config.api.scopes import AlternativeScopes, any_scope_of
from config.db.ids import is_id
from media.models import MediaAsset, MediaUsage

LIST_SCOPES: AlternativeScopes = any_scope_of("media.upload", "posts.read")
MAX_ASSETS_SEARCHED_PER_PAGE = 2000  # uploads that one page of a search examines
MAX_SEARCH_WORDS = 8


def undeleted_assets_of_all_workspaces() -> QuerySet[MediaAsset]:
    """Media query: return the media assets that are not deleted, even those whose thumbnail is not made yet."""
    return MediaAsset.objects.filter(status=MediaAsset.Status.READY)


def is_storage_key_of_any_asset(key: str) -> bool:
    """Media query: return whether any asset, even a deleted one, has its file or thumbnail under this storage key."""
    return MediaAsset.objects.filter(Q(storage_key=key) | Q(thumbnail_key=key)).exists()


def list_assets(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[MediaAsset]:
    """Media query: return a page of a workspace's assets, newest first. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, LIST_SCOPES, write=False)
    return paginate_newest_first(
        undeleted_assets_of_all_workspaces().filter(workspace_id=workspace_id), limit=limit, cursor=cursor
    )


def search_assets(
    *, caller: Caller, workspace_id: str, words: str = "", kind: str | None = None, limit: int, cursor: str | None = None
) -> Page[MediaAsset]:
    """Media query: return a page of the assets whose file name or alt text contains every search word, newest first.

    Each page examines at most MAX_ASSETS_SEARCHED_PER_PAGE uploads, so it may be empty although more follow. Only the
    first MAX_SEARCH_WORDS words count. Raises ScopeMissing, NotFound.
    """
    require_access(caller, workspace_id, LIST_SCOPES, write=False)
    wanted = Q(status=MediaAsset.Status.READY)
    if kind:
        wanted &= Q(kind=kind)
    for word in words.split()[:MAX_SEARCH_WORDS]:
        wanted &= Q(filename__icontains=word) | Q(alt_text__icontains=word)
    uploads = MediaAsset.objects.filter(workspace_id=workspace_id)
    return paginate_with_scan_limit(uploads, wanted=wanted, span=MAX_ASSETS_SEARCHED_PER_PAGE, limit=limit, cursor=cursor)


def get_asset_even_deleted(*, caller: Caller, workspace_id: str, media_id: str) -> MediaAsset:
    """Media query: return a media asset of the workspace, even a deleted one. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, LIST_SCOPES, write=False)
    rows = MediaAsset.objects.filter(workspace_id=workspace_id, pk=media_id)
    asset = rows.first() if is_id(media_id, "med") else None
    if asset is None:
        raise missing_or_foreign_id_error(None, "media asset")
    return asset


def used_quota_bytes(workspace_id: str) -> int:
    """Media query: return how many bytes of its media quota a workspace uses."""
    return MediaUsage.objects.filter(pk=workspace_id).values_list("used_bytes", flat=True).first() or 0


def ids_of_unfinished_posts_using(*, asset: MediaAsset, limit: int) -> list[str]:
    """Media query: return the ids of the unfinished posts (post groups) that use a media asset, newest first."""
    return list(asset.uses.order_by("-holder_id").values_list("holder_id", flat=True)[:limit])


def get_asset(*, caller: Caller, media_id: str, scope: str, write: bool) -> MediaAsset:
    """Media query: return the media asset with this id, if the caller may use it.

    Raises ScopeMissing, NotFound, WorkspacePaused.
    """
    asset = undeleted_assets_of_all_workspaces().filter(pk=media_id).first() if is_id(media_id, "med") else None
    if asset is None:
        raise missing_or_foreign_id_error(None, "media asset")
    require_access(caller, asset.workspace_id, scope, write=write, noun="media asset")
    return asset


def assets_by_id(*, workspace_id: str, ids: Iterable[str]) -> dict[str, MediaAsset]:
    """Media query: return the workspace's assets with these ids as a dict by id."""
    return undeleted_assets_of_all_workspaces().filter(workspace_id=workspace_id).in_bulk(list(ids))
