"""The storage of media files: a local folder or a bucket (STORAGE_URL), through Django's default storage.

A key is `<workspace id>/<sha256>-<random>.<suffix>`. It contains nothing that a user chose and is never reused, so that
removing one file can never affect another.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, cast

from botocore.exceptions import BotoCoreError, ClientError
from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage

from config.api.errors import ServiceUnavailable

logger = logging.getLogger(__name__)
NOT_FOUND_CODES = ("404", "NoSuchKey")


def new_storage_key(*, workspace_id: str, sha256: str, suffix: str) -> str:
    """Return a new unique storage key for a media file with this SHA-256 hash; `suffix` is for example `.jpg`."""
    return f"{workspace_id}/{sha256}-{secrets.token_hex(8)}{suffix}"


def store_file(path: Path, key: str) -> None:
    """Copy a local file into the media storage under a new storage key.

    Raises ServiceUnavailable; a bucket may still have stored the file then.
    """
    with path.open("rb") as file, _converted_errors():
        try:
            default_storage.save(key, File(file))
        except OSError:
            if is_media_storage_local():  # a full disk leaves a partial file
                default_storage.delete(key)
            raise


def open_file(key: str) -> BinaryIO:
    """Open a file in the media storage for reading. Raises FileNotFoundError, ServiceUnavailable."""
    with _converted_errors():
        return cast(BinaryIO, default_storage.open(key).file)


def open_range(key: str, start: int, length: int) -> BinaryIO:
    """Open a file in the media storage for reading at most `length` bytes from the offset `start`.

    The caller must not read more. Raises FileNotFoundError, ServiceUnavailable.
    """
    if not is_media_storage_local():
        with _converted_errors():
            return default_storage.open_part(key, start, length)  # type: ignore[attr-defined]
    file = open_file(key)
    file.seek(start)
    return file


def stored_size(key: str) -> int:
    """Return the size in bytes of a file in the media storage. Raises FileNotFoundError, ServiceUnavailable."""
    with _converted_errors():
        return default_storage.size(key)


def time_when_stored(key: str) -> datetime:
    """Return the time at which the media storage got a file. Raises FileNotFoundError, ServiceUnavailable."""
    with _converted_errors():
        return default_storage.get_modified_time(key)


def signed_bucket_file_url_or_none(key: str, *, seconds: int, method: str, mime_type: str, disposition: str) -> str | None:
    """Media storage: return a signed URL at which the bucket serves a file for `seconds`; None for local files."""
    if is_media_storage_local():
        return None
    headers = {"ResponseContentType": mime_type, "ResponseContentDisposition": disposition}
    with _converted_errors():
        url: str = default_storage.url(key, parameters=headers, expire=seconds, http_method=method)  # type: ignore[call-arg]
        return url


def remove_file(key: str) -> None:
    """Remove a file from the media storage, if it exists. Raises ServiceUnavailable."""
    with _converted_errors():
        default_storage.delete(key)


def all_storage_keys() -> Iterator[str]:
    """Yield the storage keys of all media files, one workspace after the other. Raises ServiceUnavailable."""
    with _converted_errors():
        try:
            folders, _ = default_storage.listdir("")
        except FileNotFoundError:  # nothing was ever stored
            return
        for folder in folders:
            for name in default_storage.listdir(folder)[1]:
                yield f"{folder}/{name}"


def is_media_storage_local() -> bool:
    """Return whether the media storage is a folder on this machine, not a bucket."""
    return isinstance(default_storage, FileSystemStorage)


@contextmanager
def _converted_errors() -> Iterator[None]:
    """Convert errors of the media storage in the `with` block to FileNotFoundError or ServiceUnavailable."""
    try:
        yield
    except FileNotFoundError:
        raise
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in NOT_FOUND_CODES:
            raise FileNotFoundError("The storage has no file with this key.") from error
        raise _unavailable(error) from error
    except (BotoCoreError, OSError) as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> ServiceUnavailable:
    logger.error("The file storage failed: %s", error)
    return ServiceUnavailable("The file storage does not answer.", headers={"Retry-After": "30"})
