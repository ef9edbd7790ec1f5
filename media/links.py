"""Signed links to stored media files. Each link opens one file until it expires.

`<BASE_URL>/files/<media id>/<file name>?form=…&expires=…&signature=…`; the signature is Django's HMAC over the other
parts, so links signed with SECRET_KEY_FALLBACKS stay valid.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils import timezone

from accounts.platforms.types import MediaFile
from config.api.errors import NotFound
from media.models import MediaAsset
from media.storage import open_file

DAY_SECONDS = 86_400
MAX_NAME_CHARACTERS = 100
# `direct` is the file without a redirect to a bucket, since some platforms do not follow redirects (TikTok).
LinkKind = Literal["file", "thumbnail", "direct"]
_EXPIRES = re.compile(r"[1-9][0-9]{0,11}")


@dataclass(frozen=True)
class FileLink:
    """The content of a signed link to a stored media file; `expires` is a Unix timestamp."""

    media_id: str
    filename: str
    kind: LinkKind
    expires: int

    def __str__(self) -> str:
        """Return the parts of a media link as the text over which its signature is computed.

        Neither id nor name can contain a slash (media/urls.py).
        """
        return f"{self.media_id}/{self.filename}/{self.kind}/{self.expires}"

    @property
    def seconds_left(self) -> int:
        return self.expires - int(timezone.now().timestamp())


def signed_file_url(asset: MediaAsset, *, thumbnail: bool = False) -> str:
    """Return a signed link to a media asset's file or thumbnail, valid for MEDIA_LINK_SECONDS."""
    return _signed_url(asset, "thumbnail" if thumbnail else "file", settings.MEDIA_LINK_SECONDS)


def signed_preview_url(asset: MediaAsset) -> str:
    """Return a signed link to the preview of a media asset, or "" if there is none.

    The preview is the thumbnail, or if there is none, the file of an image or GIF.
    """
    if asset.thumbnail_key:
        return signed_file_url(asset, thumbnail=True)
    return signed_file_url(asset) if asset.kind in (MediaAsset.Kind.IMAGE, MediaAsset.Kind.GIF) else ""


def verify_and_read_link(media_id: str, filename: str, query: Mapping[str, str]) -> FileLink:
    """Verify the signature and the expiry of a requested media link, and return the link's content.

    Raises NotFound if the link is incomplete, altered or expired.
    """
    kind, expires = query.get("form", ""), query.get("expires", "")
    if kind not in get_args(LinkKind) or not _EXPIRES.fullmatch(expires):
        raise NotFound()
    link = FileLink(media_id, filename, kind, int(expires))  # type: ignore[arg-type]
    try:
        _signer().unsign(f"{link}:{query.get('signature', '')}")
    except BadSignature:
        raise NotFound() from None
    if link.seconds_left <= 0:
        raise NotFound()
    return link


def media_file_for_adapter(asset: MediaAsset, alt_text: str | None = None) -> MediaFile:
    """Return a media asset with a signed link, valid for a day, as the MediaFile that platform adapters get.

    `alt_text` replaces the asset's own.
    """
    stem, suffix = _name(asset, asset.storage_key)
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    return MediaFile(
        **asdict(asset.media_info(alt_text)),
        id=asset.id,
        filename=(re.sub(r"[^A-Za-z0-9._]+", "-", plain).strip("-._") or asset.id) + suffix,
        url=_signed_url(asset, "direct", DAY_SECONDS),
        open=functools.partial(open_file, asset.storage_key),
    )


def build_filename_for_link(asset: MediaAsset, key: str) -> str:
    """Return a media asset's file name in signed links: its name with the suffix of the stored file type."""
    return "".join(_name(asset, key))


def _signed_url(asset: MediaAsset, kind: LinkKind, seconds: int) -> str:
    key = asset.thumbnail_key if kind == "thumbnail" else asset.storage_key
    expires = int(timezone.now().timestamp()) + seconds
    link = FileLink(asset.id, build_filename_for_link(asset, key), kind, expires)
    query = urlencode({"form": kind, "expires": expires, "signature": _signer().signature(str(link))})
    return f"{settings.BASE_URL}/files/{asset.id}/{quote(link.filename, safe='')}?{query}"


def _name(asset: MediaAsset, key: str) -> tuple[str, str]:
    """Return the two parts of a media asset's file name in links: a name without unusual characters, and the suffix."""
    stem = unicodedata.normalize("NFC", PurePosixPath(asset.filename).stem)
    allowed = (sign if sign in " ._-()+" or unicodedata.category(sign)[0] in "LMN" else "-" for sign in stem)
    name = re.sub("-{2,}", "-", "".join(allowed))[:MAX_NAME_CHARACTERS].strip(" .-")
    return name or asset.id, PurePosixPath(key).suffix


def _signer() -> Signer:
    return Signer(sep=":", salt="media.links")
