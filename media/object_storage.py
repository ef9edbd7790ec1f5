"""A bucket of an S3-compatible service, as STORAGE_URL names it; only what is set so loads the client."""

from __future__ import annotations

from typing import Any, BinaryIO

from botocore.config import Config
from storages.backends.s3 import S3Storage

IN_MEMORY_BYTES = 1024 * 1024


class ObjectStorage(S3Storage):
    """Objects are private: no ACL makes them public, and each address of one is signed and expires.

    A service that does not answer fails a call after some seconds, where the client's own patience would last minutes.
    """

    client_config: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        patience = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 3})
        self.client_config = self.client_config.merge(patience)

    def get_default_settings(self) -> dict[str, Any]:
        ours = {
            "default_acl": None,
            "querystring_auth": True,
            "file_overwrite": False,
            "signature_version": "s3v4",  # presigned addresses of the older one are refused by most services
            "max_memory_size": IN_MEMORY_BYTES,  # beyond it a download goes on to disk; 0, the default, means never
        }
        return {**super().get_default_settings(), **ours}

    def open_part(self, name: str, start: int, length: int) -> BinaryIO:
        """`length` bytes from `start` on, read from the service as they are asked for."""
        stored = self.bucket.Object(self._normalize_name(name))
        body: BinaryIO = stored.get(Range=f"bytes={start}-{start + length - 1}")["Body"]
        return body
