"""A bucket of an S3-compatible service, as STORAGE_URL names it; only what is set so loads the client."""

from __future__ import annotations

from typing import Any, BinaryIO

from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from storages.backends.s3 import S3Storage

IN_MEMORY_BYTES = 1024 * 1024
# A call that makes no progress ends after two attempts of ten seconds at most: to connect, and to be answered.
CLIENT_CONFIG = Config(connect_timeout=3, read_timeout=7, retries={"mode": "standard", "total_max_attempts": 2})
# Each file is one PUT or GET in the caller's own thread. What is uploaded in parts takes two more calls, which wait as
# long again, and parts that are never put together lie in the bucket unseen.
TRANSFER_CONFIG = TransferConfig(multipart_threshold=5 * 1024**3, use_threads=False, num_download_attempts=2)


class ObjectStorage(S3Storage):
    """Objects are private: no ACL makes them public, and each address of one is signed and expires."""

    client_config: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_config = self.client_config.merge(CLIENT_CONFIG)

    def get_default_settings(self) -> dict[str, Any]:
        ours = {
            "default_acl": None,
            "querystring_auth": True,
            "file_overwrite": True,  # no key is used twice, so nobody has to ask whether there is such an object
            "transfer_config": TRANSFER_CONFIG,
            "signature_version": "s3v4",  # presigned addresses of the older one are refused by most services
            "max_memory_size": IN_MEMORY_BYTES,  # beyond it a download goes on to disk; 0, the default, means never
        }
        return {**super().get_default_settings(), **ours}

    def open_part(self, name: str, start: int, length: int) -> BinaryIO:
        """`length` bytes from `start` on, read from the service as they are asked for."""
        stored = self.bucket.Object(self._normalize_name(name))
        body: BinaryIO = stored.get(Range=f"bytes={start}-{start + length - 1}")["Body"]
        return body
