"""Where the bytes of media assets lie: Django's default storage, on this machine or a bucket (STORAGE_URL).

A key is `<workspace id>/<sha256>-<random>.<suffix>`. Nothing that a user chose is part of it, and none is used twice, so
that what removes one stored file can never hit another.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, cast

from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage
from django.utils import timezone

from config.api.errors import ServiceUnavailable

logger = logging.getLogger(__name__)
NOT_FOUND_CODES = ("404", "NoSuchKey")


def new_key(*, workspace_id: str, sha256: str, suffix: str) -> str:
    """A key for a file with this hash, as no other file has it; `suffix` is such as `.jpg`."""
    return f"{workspace_id}/{sha256}-{secrets.token_hex(8)}{suffix}"


def store_file(path: Path, key: str) -> None:
    """Store a copy of the file at `path` under a new key. Raises ServiceUnavailable; a bucket may then have it or not."""
    with path.open("rb") as file, _reaching():
        try:
            default_storage.save(key, File(file))
        except OSError:
            if is_local():  # a full disk holds the part that it had room for
                default_storage.delete(key)
            raise


def open_file(key: str) -> BinaryIO:
    """The stored file, to be read from its start. Raises FileNotFoundError, ServiceUnavailable."""
    with _reaching():
        return cast(BinaryIO, default_storage.open(key).file)


def open_range(key: str, start: int, length: int) -> BinaryIO:
    """The stored file as a stream that begins at `start`; no more than `length` bytes of it may be read.

    Raises FileNotFoundError, ServiceUnavailable.
    """
    if not is_local():
        with _reaching():
            return default_storage.open_part(key, start, length)  # type: ignore[attr-defined]
    file = open_file(key)
    file.seek(start)
    return file


def stored_size(key: str) -> int:
    """In bytes. Raises FileNotFoundError, ServiceUnavailable."""
    with _reaching():
        return default_storage.size(key)


def stored_at(key: str) -> datetime:
    """When it was stored. Raises FileNotFoundError, ServiceUnavailable."""
    with _reaching():
        return default_storage.get_modified_time(key)


def bucket_url(key: str, *, seconds: int, method: str, mime_type: str, disposition: str) -> str | None:
    """Where a bucket itself serves the file to whoever has this address, for so long; None for files on this machine."""
    if is_local():
        return None
    told = {"ResponseContentType": mime_type, "ResponseContentDisposition": disposition}
    with _reaching():
        url: str = default_storage.url(key, parameters=told, expire=seconds, http_method=method)  # type: ignore[call-arg]
        return url


def remove_file(key: str) -> None:
    """Remove the stored file; one that is not there is no error. Raises ServiceUnavailable."""
    with _reaching():
        default_storage.delete(key)


def all_keys() -> Iterator[str]:
    """The keys of all stored files, workspace by workspace. Raises ServiceUnavailable."""
    with _reaching():
        try:
            folders, _ = default_storage.listdir("")
        except FileNotFoundError:  # nothing was ever stored
            return
        for folder in folders:
            for name in default_storage.listdir(folder)[1]:
                yield f"{folder}/{name}"


def purge_upload_leftovers(older_than: timedelta) -> int:
    """Remove what processes that were killed left in the folder for incoming files; returns how many files that were."""
    before = (timezone.now() - older_than).timestamp()
    removed = 0
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        with suppress(FileNotFoundError):  # whose request is over
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed


def is_local() -> bool:
    """Whether files lie on this machine, not in a bucket."""
    return isinstance(default_storage, FileSystemStorage)


@contextmanager
def _reaching() -> Iterator[None]:
    """Turns what a storage's client raises into FileNotFoundError or ServiceUnavailable."""
    try:
        yield
    except FileNotFoundError:
        raise
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in NOT_FOUND_CODES:
            raise FileNotFoundError("The storage holds no file under this key.") from error
        raise _unavailable(error) from error
    except (BotoCoreError, OSError) as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> ServiceUnavailable:
    logger.error("The file storage failed: %s", error)
    return ServiceUnavailable("The file storage does not answer.", headers={"Retry-After": "30"})
