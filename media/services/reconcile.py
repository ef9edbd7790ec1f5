"""Services that compare the media storage with the database: files without a row, and assets without a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TypeVar

from django.utils import timezone

from media import selectors, storage
from media.models import MediaAsset

MIN_ORPHAN_AGE = timedelta(hours=1)  # younger files may still get their row
PROGRESS_EVERY = 1000
Item = TypeVar("Item")


def find_orphaned_and_missing_files(report: Callable[[str], None]) -> tuple[list[str], list[str]]:
    """Compare media storage and database: find stored files without a row, and media assets without their stored file.

    Returns the keys of stored files without a row, at least an hour old, and the ids of ready assets without their file.
    Raises ServiceUnavailable.
    """
    stored = set(_reporting(storage.all_storage_keys(), "stored files", report))
    named: set[str] = set()
    lost = []
    rows = MediaAsset.objects.values_list("pk", "status", "storage_key", "thumbnail_key").order_by("pk")
    for pk, status, *keys in _reporting(rows.iterator(chunk_size=PROGRESS_EVERY), "assets", report):
        named.update(keys)
        if status == MediaAsset.Status.READY and not {key for key in keys if key} <= stored:
            lost.append(pk)
    return sorted(filter(_is_orphan, stored - named)), [pk for pk in lost if _lacks_file(pk)]


def remove_files_without_row(keys: Iterable[str], report: Callable[[str], None]) -> int:
    """Remove media files that were found without a database row, unless an asset uses them by now; returns how many."""
    removed = 0
    for key in keys:
        if not selectors.is_storage_key_of_any_asset(key):
            storage.remove_file(key)
            report(f"removed {key}")
            removed += 1
    return removed


def _is_orphan(key: str) -> bool:
    """Return whether a stored media file without a database row still exists and is too old to be an upload in progress."""
    try:
        return timezone.now() - storage.time_when_stored(key) > MIN_ORPHAN_AGE
    except FileNotFoundError:
        return False


def _lacks_file(pk: str) -> bool:
    """Check again whether a media asset lacks its file or thumbnail in the media storage; a deleted asset lacks nothing."""
    asset = selectors.undeleted_assets_of_all_workspaces().filter(pk=pk).first()
    if asset is None:
        return False
    try:
        for key in filter(None, (asset.storage_key, asset.thumbnail_key)):
            storage.stored_size(key)
    except FileNotFoundError:
        return True
    return False


def _reporting(items: Iterable[Item], noun: str, report: Callable[[str], None]) -> Iterator[Item]:
    count = 0
    for count, item in enumerate(items, start=1):
        yield item
        if count % PROGRESS_EVERY == 0:
            report(f"{count:,} {noun} …")
    report(f"{count:,} {noun} checked")
