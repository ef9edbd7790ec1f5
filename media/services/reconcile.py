"""Comparing the storage with the rows: files that no row names, and rows whose file is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from django.db.models import Q
from django.utils import timezone

from media import selectors, storage
from media.models import MediaAsset

MIN_ORPHAN_AGE = timedelta(hours=1)  # a file may be on its way to a row for so long
PROGRESS_EVERY = 1000
Item = TypeVar("Item")


@dataclass(frozen=True)
class Orphans:
    """`files` are the keys of stored files without a row, an hour old or older; `assets` the ids of ready assets."""

    files: list[str]
    assets: list[str]


def find_orphans(tell: Callable[[str], None]) -> Orphans:
    """Look through storage and rows, telling how far it has come. Raises ServiceUnavailable."""
    stored = set(_told(storage.all_keys(), "stored files", tell))
    named: set[str] = set()
    lost = []
    rows = MediaAsset.objects.values_list("pk", "status", "storage_key", "thumbnail_key").order_by("pk")
    for pk, status, *keys in _told(rows.iterator(chunk_size=PROGRESS_EVERY), "assets", tell):
        named.update(keys)
        if status == MediaAsset.Status.READY and not {key for key in keys if key} <= stored:
            lost.append(pk)
    return Orphans(sorted(filter(_is_left, stored - named)), [pk for pk in lost if _has_lost(pk)])


def remove_files_without_row(keys: Iterable[str], tell: Callable[[str], None]) -> int:
    """Remove these files unless a row names them by now; returns how many."""
    removed = 0
    for key in keys:
        if not MediaAsset.objects.filter(Q(storage_key=key) | Q(thumbnail_key=key)).exists():
            storage.remove_file(key)
            tell(f"removed {key}")
            removed += 1
    return removed


def _is_left(key: str) -> bool:
    """Whether the file is still there, and not so young that its row may be coming."""
    try:
        return timezone.now() - storage.stored_at(key) > MIN_ORPHAN_AGE
    except FileNotFoundError:
        return False


def _has_lost(pk: str) -> bool:
    """Whether the asset is still there without one of its files: both may have come after the storage was read."""
    asset = selectors.ready_assets().filter(pk=pk).first()
    if asset is None:
        return False
    try:
        for key in filter(None, (asset.storage_key, asset.thumbnail_key)):
            storage.stored_size(key)
    except FileNotFoundError:
        return True
    return False


def _told(items: Iterable[Item], noun: str, tell: Callable[[str], None]) -> Iterator[Item]:
    count = 0
    for count, item in enumerate(items, start=1):
        yield item
        if count % PROGRESS_EVERY == 0:
            tell(f"{count:,} {noun} …")
    tell(f"{count:,} {noun} looked at")
