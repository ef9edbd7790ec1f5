"""The media of a post: which assets it shows, in which order, and with which alt texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.platforms.types import MediaFile, MediaInfo
from config.api.errors import ValidationFailed
from media.links import adapter_media_file
from media.models import MediaAsset
from media.selectors import get_assets
from media.services import release_media, use_media
from posts.models import PostGroup


@dataclass(frozen=True)
class AttachedMedia:
    """An asset as a post shows it; `alt_text` None is the asset's own."""

    asset: MediaAsset
    alt_text: str | None = None

    @property
    def properties(self) -> MediaInfo:
        return self.asset.properties(self.alt_text)


class MediaGone(Exception):
    """Assets that a post is to show are no longer in the library; `media_ids` names them."""

    def __init__(self, media_ids: Sequence[str]) -> None:
        super().__init__(f"These media assets are no longer there: {', '.join(media_ids)}.")
        self.media_ids = list(media_ids)


def find_attached_assets(workspace_id: str, media: Iterable[Mapping[str, Any]]) -> dict[str, MediaAsset]:
    """The workspace's assets that `media` arrays of the API name: one query, none where they name nothing."""
    ids = _ids(media)
    return get_assets(workspace_id=workspace_id, ids=ids) if ids else {}


def resolve_media(media: Sequence[Mapping[str, Any]], assets: Mapping[str, MediaAsset]) -> tuple[AttachedMedia, ...]:
    """What a `media` array shows, in its order; `assets` are those that it may name.

    Raises ValidationFailed naming each asset that is not there, and each that stands there twice.
    """
    ids, problems = _ids(media), []
    for index, media_id in enumerate(ids):
        where = f"media[{index}].media_id"
        if media_id not in assets:
            problems.append({"field": where, "code": "not_found", "message": "There is no such media asset."})
        elif media_id in ids[:index]:
            problems.append({"field": where, "code": "repeated", "message": "The asset is in this post already."})
    if problems:
        raise ValidationFailed(details=problems)
    return tuple(AttachedMedia(assets[each["media_id"]], each.get("alt_text")) for each in media)


def adapter_media_files(group: PostGroup) -> tuple[MediaFile, ...]:
    """The group's media as adapters take them, in order: one query, none for a group without. Raises MediaGone."""
    assets = find_attached_assets(group.workspace_id, group.media)
    if gone := [media_id for media_id in _ids(group.media) if media_id not in assets]:
        raise MediaGone(gone)
    return tuple(adapter_media_file(assets[each["media_id"]], each.get("alt_text")) for each in group.media)


def reserve_group_media(group: PostGroup) -> None:
    """Keep the group's media from being deleted until it lets them go, which every group does when it is finished.

    In a transaction, before money is held, so that locks are taken in one order. Raises ValidationFailed naming what
    is gone.
    """
    if group.media:
        use_media(holder_id=group.id, media_ids=_ids(group.media))


def lock_media_of_groups(groups: Iterable[PostGroup]) -> None:
    """Lock what several groups are going to keep, in one order, so that no two batches wait for each other."""
    if ids := {media_id for group in groups for media_id in _ids(group.media)}:
        list(MediaAsset.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))


def release_group_media(group: PostGroup) -> None:
    """The group needs its media no longer; they may be deleted again as far as it is concerned."""
    if group.media:
        release_media(holder_id=group.id)


def _ids(media: Iterable[Mapping[str, Any]]) -> list[str]:
    return [each["media_id"] for each in media]
