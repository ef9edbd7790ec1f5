"""Refusals of uploads, deletions and downloads."""

from __future__ import annotations

from django.conf import settings

from config.api.errors import ApiError, Conflict


class MediaTypeNotAllowed(ApiError):
    status, code = 422, "MEDIA_TYPE_NOT_ALLOWED"
    message = "The file's bytes are no media type that is taken here."
    suggested_action = "Send a whole JPEG, PNG, WebP or GIF image, an MP4, MOV or WebM video, or a PDF."


class MediaMalwareDetected(ApiError):
    status, code = 422, "MEDIA_MALWARE_DETECTED"
    message = "The scanner flagged this file as malicious; nothing of it was kept."
    suggested_action = "Do not send this file again; check where it comes from."


class MediaScanUnavailable(ApiError):
    """The scanner is gone, too slow, or answered something that is no verdict."""

    status, code = 503, "MEDIA_SCAN_UNAVAILABLE"
    message = "The file could not be scanned, so nothing of it was kept."
    suggested_action = "Send it again in a minute."
    auto_fixable = True

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, headers={"Retry-After": "60"})


class MediaInUse(Conflict):
    code = "MEDIA_IN_USE"
    message = "A post that is not finished uses this asset."
    suggested_action = "Cancel or change that post, or wait until it is out."


class MediaQuotaExceeded(Conflict):
    """The file does not fit beside the `used` bytes of the workspace's library."""

    code = "MEDIA_QUOTA_EXCEEDED"
    message = "The workspace's media library has no room for this file."
    suggested_action = "Delete media that you no longer need, then send the file again."

    def __init__(self, *, used: int = 0, size: int = 0) -> None:
        super().__init__(
            f"The workspace's media library has no room for this file of {size:,} bytes: "
            f"{used:,} of {settings.MEDIA_QUOTA_BYTES:,} bytes are used."
        )


class RangeNotSatisfiable(ApiError):
    """The range lies behind the end of a file of `size` bytes."""

    status, code = 416, "RANGE_NOT_SATISFIABLE"
    message = "The range that was asked for lies behind the end of the file."
    suggested_action = "Ask for a range within the size that Content-Range tells, or for the whole file."
    auto_fixable = True

    def __init__(self, size: int = 0) -> None:
        super().__init__(headers={"Content-Range": f"bytes */{size}"})
