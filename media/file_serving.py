"""The web view that serves stored media files at signed links (media/links.py), with byte ranges and ETags (RFC 9110).

A bucket serves its files itself: the response redirects to a URL that is valid for a minute. Files are untrusted and are
served from the service's own origin, so browsers must not execute anything in them.
"""

from __future__ import annotations

import logging
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header, parse_etags

from config.api.error_handlers import django_error_response
from config.api.errors import ApiError, NotFound
from config.api.views import require_safe_with_json_error
from media.backend_limits import limit_bucket_call
from media.errors import RangeNotSatisfiable
from media.links import FileLink, build_filename_for_link, verify_and_read_link
from media.models import MediaAsset
from media.storage import open_range, signed_bucket_file_url_or_none, stored_size
from workspaces.selectors import undeleted_workspaces

logger = logging.getLogger(__name__)
CHUNK_BYTES = 262_144
BUCKET_LINK_SECONDS = 60
INLINE_TYPES = ("image/", "video/")  # others are downloaded: browsers execute scripts in PDFs
_RANGE = re.compile(r"bytes[ \t]*=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)


@dataclass(frozen=True)
class FileToServe:
    """The stored media file that is served at a signed link, with the values for the response headers."""

    key: str
    mime_type: str
    etag: str
    disposition: str


@require_safe_with_json_error
def serve_file(request: HttpRequest, media_id: str, filename: str) -> HttpResponseBase:
    """Serve the stored media file of a signed link (GET or HEAD). All invalid links get the same 404 response."""
    try:
        link = verify_and_read_link(media_id, filename, request.GET)
        stored = _find_file(link)
        response = _response(request, link, stored)
    except ApiError as error:
        return django_error_response(error)
    response["ETag"] = stored.etag
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.setdefault("Cache-Control", f"private, max-age={link.seconds_left}")
    return response


def _find_file(link: FileLink) -> FileToServe:
    """Find the stored media file to serve at a signed link. Raises NotFound if its asset, thumbnail or workspace is gone."""
    ready = MediaAsset.objects.filter(status=MediaAsset.Status.READY, workspace__in=undeleted_workspaces())
    asset = ready.filter(pk=link.media_id).first()
    if asset is None:
        raise NotFound()
    key, mime_type, etag = asset.storage_key, asset.mime_type, asset.sha256
    if link.kind == "thumbnail":
        key = asset.thumbnail_key
        mime_type = mimetypes.guess_type(key, strict=False)[0] or "application/octet-stream"
        etag = PurePosixPath(key).stem  # keys are unique
    if not key:
        raise NotFound()
    disposition = content_disposition_header(not mime_type.startswith(INLINE_TYPES), build_filename_for_link(asset, key))
    return FileToServe(key, mime_type, f'"{etag}"', disposition or "attachment")


def _response(request: HttpRequest, link: FileLink, stored: FileToServe) -> HttpResponseBase:
    """Return the HTTP response that serves a stored media file, with status 304, 302 (to the bucket), 206 or 200.

    Raises NotFound, RangeNotSatisfiable, ServiceUnavailable.
    """
    if _is_cached(request.headers.get("If-None-Match", ""), stored.etag):
        return HttpResponseNotModified()
    if link.kind != "direct" and (response := _redirect(request, link, stored)):
        return response
    try:
        with limit_bucket_call():
            size = stored_size(stored.key)
            span = _span(request, size, stored.etag)
            start, length = span or (0, size)
            status = 206 if span else 200
            if request.method == "HEAD":
                response = HttpResponse(status=status)
            else:
                response = StreamingHttpResponse(
                    FileResponseBody(open_range(stored.key, start, length), length), status=status
                )
    except FileNotFoundError:
        logger.error("The file %s of %s is missing in the storage.", stored.key, link.media_id)
        raise NotFound() from None
    if span:
        response["Content-Range"] = f"bytes {start}-{start + length - 1}/{size}"
    response["Content-Length"] = str(length)
    response["Content-Type"] = stored.mime_type
    response["Content-Disposition"] = stored.disposition
    response["Accept-Ranges"] = "bytes"
    return response


def _redirect(request: HttpRequest, link: FileLink, stored: FileToServe) -> HttpResponseBase | None:
    """Return a redirect to a media file's URL in the bucket, or None if media files are stored locally.

    Browsers must not cache the redirect, because the URL expires soon.
    """
    address = signed_bucket_file_url_or_none(
        stored.key,
        seconds=min(BUCKET_LINK_SECONDS, link.seconds_left),
        method=request.method or "GET",
        mime_type=stored.mime_type,
        disposition=stored.disposition,
    )
    return HttpResponseRedirect(address, headers={"Cache-Control": "private, no-store"}) if address else None


def _is_cached(if_none_match: str, etag: str) -> bool:
    """Return whether a request's If-None-Match header shows that the browser has cached the current version of a media file.

    See RFC 9110, 13.1.2; the prefix W/ is ignored.
    """
    return any(sent == "*" or sent.removeprefix("W/") == etag for sent in parse_etags(if_none_match))


def _span(request: HttpRequest, size: int, etag: str) -> tuple[int, int] | None:
    """Return the byte range of a media file that a request asks for as (start, length), or None for the whole file.

    The whole file is also sent for several ranges, an invalid range, an outdated If-Range (RFC 9110, 13.1.5) and HEAD.
    Raises RangeNotSatisfiable.
    """
    requested = _RANGE.fullmatch(request.headers.get("Range", ""))
    if request.method != "GET" or requested is None or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = requested[1], requested[2]
    if not (first or last) or (first and last and int(last) < int(first)):
        return None
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        raise RangeNotSatisfiable(size)
    return start, end - start + 1


class FileResponseBody:
    """The body of an HTTP response with a media file or a part of it: `length` bytes of the open file, in chunks.

    The response closes the file.
    """

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file, self._left = file, length
        self.close = file.close

    def __iter__(self) -> Iterator[bytes]:
        while self._left > 0 and (piece := self._file.read(min(CHUNK_BYTES, self._left))):
            self._left -= len(piece)
            yield piece
