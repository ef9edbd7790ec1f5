"""Fetching of media files from URLs in API requests, without access to internal hosts (protection against SSRF)."""

from __future__ import annotations

from typing import IO, cast
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from django.utils.translation import gettext_noop

from config import outbound
from config.api.errors import ApiError, ValidationFailed
from config.api.request_limits import OUTBOUND_SECONDS, limit_outbound_threads_and_seconds
from config.api.uploads import ReceivedFile, UploadTempFiles, too_large_error
from media.file_types import max_upload_bytes_by_first_bytes

MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


def fetch_from_url(url: str, spool: UploadTempFiles, *, workspace_id: str) -> ReceivedFile:
    """Download a media file from a URL in an API request into a temporary file, in at most OUTBOUND_SECONDS.

    The IP address behind each redirect is checked as well. Raises ValidationFailed on `source_url` if the file cannot be
    fetched, PayloadTooLarge, RateLimited.
    """
    filename = unquote(urlsplit(url).path).rpartition("/")[2]
    with limit_outbound_threads_and_seconds(workspace_id):
        for _ in range(MAX_REDIRECTS + 1):
            file = spool.temporary_upload_file(filename)
            try:
                response = outbound.download(url, cast(IO[bytes], file), max_bytes=max_upload_bytes_by_first_bytes())
            except outbound.OutboundError as error:
                raise _download_error(error) from error
            if response.status == 200:
                return file.finish()
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or not location:
                raise _refused("unexpected_status", f"The URL returned status {response.status}, not 200.")
            try:
                url = urldefrag(urljoin(url, location)).url
            except ValueError as error:
                raise _refused("not_allowed", gettext_noop("The URL redirects to an invalid URL.")) from error
    raise _refused("too_many_redirects", f"The URL redirects more than {MAX_REDIRECTS} times.")


def _download_error(error: outbound.OutboundError) -> ApiError:
    if isinstance(error, outbound.ResponseTooLarge):
        return too_large_error(max_upload_bytes_by_first_bytes())
    if isinstance(error, outbound.NotSentToForbiddenHost):
        return _refused("not_allowed", f"Files cannot be fetched from this URL: {error}")
    if isinstance(error, outbound.NotSent):
        return _refused("unreachable", gettext_noop("The URL cannot be reached."))
    return _refused("no_answer", f"The response was not complete within {OUTBOUND_SECONDS:g} seconds.")


def _refused(code: str, message: str) -> ValidationFailed:
    return ValidationFailed.for_field("source_url", message, code)
