"""The media storage in an S3-compatible bucket (STORAGE_URL); this module is only imported if a bucket is configured."""

from __future__ import annotations

from typing import Any, BinaryIO

from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from storages.backends.s3 import S3Storage

IN_MEMORY_BYTES = 1024 * 1024
# A stalled call ends after two attempts of at most ten seconds each, for connecting and for the response.
CLIENT_CONFIG = Config(connect_timeout=3, read_timeout=7, retries={"mode": "standard", "total_max_attempts": 2})
# One PUT or GET per file, in the caller's thread. Multipart uploads need two more calls with separate timeouts, and parts
# of interrupted uploads remain in the bucket without being listed.
TRANSFER_CONFIG = TransferConfig(multipart_threshold=5 * 1024**3, use_threads=False, num_download_attempts=2)


class ObjectStorage(S3Storage):
    """The Django storage class for media files in an S3 bucket: all files are private, and every URL is signed."""

    client_config: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_config = self.client_config.merge(CLIENT_CONFIG)

    def get_default_settings(self) -> dict[str, Any]:
        ours = {
            "default_acl": None,
            "querystring_auth": True,
            "file_overwrite": True,  # keys are unique, so the existence check is not needed
            "transfer_config": TRANSFER_CONFIG,
            "signature_version": "s3v4",  # most services refuse URLs presigned with the older version
            "max_memory_size": IN_MEMORY_BYTES,  # larger downloads are buffered on disk; the default 0 means never
        }
        return {**super().get_default_settings(), **ours}

    def open_part(self, name: str, start: int, length: int) -> BinaryIO:
        """Return a stream of `length` bytes of a media file in the bucket from `start`, downloaded only when read."""
        stored = self.bucket.Object(self._normalize_name(name))
        body: BinaryIO = stored.get(Range=f"bytes={start}-{start + length - 1}")["Body"]
        return body
