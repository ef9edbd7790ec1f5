"""The media attached to posts: looks up assets, protects them from deletion, and prepares them for platform adapters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from accounts.platforms.types import MediaFile, MediaInfo
from config.api.errors import ValidationFailed
from config.db.writes import Write
from media.links import media_file_for_adapter
from media.models import MediaAsset
from media.selectors import assets_by_id
from media.services import set_media_used_by_post, writes_that_delete_media_uses
from posts.content import MediaInput
from posts.models import PostGroup


@dataclass(frozen=True)
class AttachedMedia:
    """A media asset attached to a post, with the post's alternative text for it.

    If `alt_text` is None, the post uses the asset's own alternative text.
    """

    asset: MediaAsset
    alt_text: str | None = None

    @property
    def media_info(self) -> MediaInfo:
        return self.asset.media_info(self.alt_text)


class AttachedMediaDeleted(Exception):
    """Raised when media attached to a post were deleted; `media_ids` lists the deleted assets."""

    def __init__(self, media_ids: Sequence[str]) -> None:
        super().__init__(f"These media assets were deleted: {', '.join(media_ids)}.")
        self.media_ids = list(media_ids)


def existing_workspace_assets_by_id(workspace_id: str, media_ids: Iterable[str]) -> dict[str, MediaAsset]:
    """Return by id those of a workspace's media assets that a request wants to attach to posts.

    Runs at most one query.
    """
    ids = list(dict.fromkeys(media_ids))
    return assets_by_id(workspace_id=workspace_id, ids=ids) if ids else {}


def match_media_to_assets(media: Sequence[MediaInput], assets: Mapping[str, MediaAsset]) -> tuple[AttachedMedia, ...]:
    """Combine the media attached to a post that is created or edited with their stored assets, in the same order.

    `assets` are the assets that were found. Raises ValidationFailed naming each asset that does not exist or occurs twice.
    """
    ids, problems = [each.media_id for each in media], []
    for index, media_id in enumerate(ids):
        where = f"media[{index}].media_id"
        if media_id not in assets:
            problems.append({"field": where, "code": "not_found", "message": "This media asset does not exist."})
        elif media_id in ids[:index]:
            problems.append(
                {"field": where, "code": "repeated", "message": "This media asset is already attached to the post."}
            )
    if problems:
        raise ValidationFailed(details=problems)
    return tuple(AttachedMedia(assets[each.media_id], each.alt_text) for each in media)


def media_files_for_adapter(group: PostGroup) -> tuple[MediaFile, ...]:
    """Return a post group's attached media as files for platform adapters. Raises AttachedMediaDeleted if media were deleted.

    Runs at most one query.
    """
    assets = existing_workspace_assets_by_id(group.workspace_id, attached_media_ids(group))
    if gone := [media_id for media_id in attached_media_ids(group) if media_id not in assets]:
        raise AttachedMediaDeleted(gone)
    return tuple(media_file_for_adapter(assets[each["media_id"]], each.get("alt_text")) for each in group.media)


def protect_media_until_group_finished(group: PostGroup) -> None:
    """Protect the media attached to a post group from deletion until the group is finished.

    Must run in a transaction, before money is held, so that locks are taken in one order. Raises ValidationFailed naming
    deleted assets.
    """
    if group.media:
        set_media_used_by_post(holder_id=group.id, media_ids=attached_media_ids(group))


def lock_media_of_groups(groups: Iterable[PostGroup]) -> None:
    """Lock the attached media of several posts in a fixed order, so that concurrent requests cannot deadlock."""
    if ids := {media_id for group in groups for media_id in attached_media_ids(group)}:
        list(MediaAsset.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))


def writes_that_end_media_protection(groups: Iterable[PostGroup]) -> list[Write]:
    """Return the database writes after which the media attached to these post groups can be deleted again."""
    return writes_that_delete_media_uses([group.id for group in groups if group.media])


def attached_media_ids(group: PostGroup) -> list[str]:
    """Return the ids of the media assets attached to a post group, in order."""
    return [each["media_id"] for each in group.media]
