"""API errors of media uploads, deletions and downloads."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext_noop

from config.api.errors import ApiError, Conflict


class MediaTypeNotAllowed(ApiError):
    status, code = 422, "MEDIA_TYPE_NOT_ALLOWED"
    message = gettext_noop("The file is not of a supported media type.")
    suggested_action = gettext_noop("Send a complete JPEG, PNG, WebP or GIF image, MP4, MOV or WebM video, or PDF.")


class MediaMalwareDetected(ApiError):
    status, code = 422, "MEDIA_MALWARE_DETECTED"
    message = gettext_noop("The scanner flagged this file as malicious; it was not stored.")
    suggested_action = gettext_noop("Do not send this file again. Check where it comes from.")


class MediaScanUnavailable(ApiError):
    """The API error for an upload when the malware scanner is down, too slow, or sent an invalid reply."""

    status, code = 503, "MEDIA_SCAN_UNAVAILABLE"
    message = gettext_noop("The file could not be scanned, so it was not stored.")
    suggested_action = gettext_noop("Send it again in a minute.")
    auto_fixable = True
    default_headers = {"Retry-After": "60"}


class MediaInUse(Conflict):
    code = "MEDIA_IN_USE"
    message = gettext_noop("An unfinished post uses this asset.")
    suggested_action = gettext_noop("Cancel or change that post, or wait until it is published.")


class MediaQuotaExceeded(Conflict):
    """The API error for an upload that would exceed the workspace's media quota, of which `used` bytes are in use."""

    code = "MEDIA_QUOTA_EXCEEDED"
    message = gettext_noop("The workspace's media quota is too small for this file.")
    suggested_action = gettext_noop("Delete media that you no longer need, then send the file again.")

    def __init__(self, *, used: int = 0, size: int = 0) -> None:
        super().__init__(
            f"The workspace's media quota is too small for this file of {size:,} bytes: "
            f"{used:,} of {settings.MEDIA_QUOTA_BYTES:,} bytes are used."
        )


class RangeNotSatisfiable(ApiError):
    """The API error for a requested byte range that starts after the end of a media file of `size` bytes."""

    status, code = 416, "RANGE_NOT_SATISFIABLE"
    message = "The requested range starts after the end of the file."
    suggested_action = "Request a range within the size in Content-Range, or the whole file."
    auto_fixable = True

    def __init__(self, size: int = 0) -> None:
        super().__init__(headers={"Content-Range": f"bytes */{size}"})
