"""Signed links to stored files: whoever has one may fetch that file until it expires, and nothing else.

`<BASE_URL>/files/<media id>/<file name>?form=…&expires=…&signature=…`; the signature is Django's HMAC over the other
parts, so that keys in SECRET_KEY_FALLBACKS go on opening links.
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
# `direct` is the file as well, but never by way of a redirect to a bucket: platforms that fetch may follow none (TikTok).
LinkKind = Literal["file", "thumbnail", "direct"]
_EXPIRES = re.compile(r"[1-9][0-9]{0,11}")


@dataclass(frozen=True)
class FileLink:
    """What a link opens; `expires` in seconds since 1970."""

    media_id: str
    filename: str
    form: LinkKind
    expires: int

    def __str__(self) -> str:
        """What is signed; neither id nor name can hold a slash (media/urls.py)."""
        return f"{self.media_id}/{self.filename}/{self.form}/{self.expires}"

    @property
    def seconds_left(self) -> int:
        return self.expires - int(timezone.now().timestamp())


def file_link(asset: MediaAsset, *, seconds: int | None = None, thumbnail: bool = False) -> str:
    """An absolute address of the stored file, or of its thumbnail, that is good for so many seconds (MEDIA_LINK_SECONDS)."""
    return _address(
        asset, "thumbnail" if thumbnail else "file", settings.MEDIA_LINK_SECONDS if seconds is None else seconds
    )


def preview_link(asset: MediaAsset) -> str:
    """The address of a small picture, or of the whole one while there is no small one; "" for what is none."""
    if asset.thumbnail_key:
        return file_link(asset, thumbnail=True)
    return file_link(asset) if asset.kind in (MediaAsset.Kind.IMAGE, MediaAsset.Kind.GIF) else ""


def verify_link(media_id: str, filename: str, query: Mapping[str, str]) -> FileLink:
    """The link that a request came by. Raises NotFound for one that is not whole, was changed, or has expired."""
    form, expires = query.get("form", ""), query.get("expires", "")
    if form not in get_args(LinkKind) or not _EXPIRES.fullmatch(expires):
        raise NotFound()
    asked = FileLink(media_id, filename, form, int(expires))  # type: ignore[arg-type]
    try:
        _signer().unsign(f"{asked}:{query.get('signature', '')}")
    except BadSignature:
        raise NotFound() from None
    if asked.seconds_left <= 0:
        raise NotFound()
    return asked


def adapter_media_file(asset: MediaAsset, alt_text: str | None = None) -> MediaFile:
    """The asset as adapters take it, with a link that is good for a day; `alt_text` instead of the asset's own."""
    stem, suffix = _name(asset, asset.storage_key)
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    return MediaFile(
        **asdict(asset.properties(alt_text)),
        id=asset.id,
        filename=(re.sub(r"[^A-Za-z0-9._]+", "-", plain).strip("-._") or asset.id) + suffix,
        url=_address(asset, "direct", DAY_SECONDS),
        open=functools.partial(open_file, asset.storage_key),
    )


def download_name(asset: MediaAsset, key: str) -> str:
    """What the stored file is called in links and where it is saved: the asset's name, with the suffix of what it is."""
    return "".join(_name(asset, key))


def _address(asset: MediaAsset, form: LinkKind, seconds: int) -> str:
    key = asset.thumbnail_key if form == "thumbnail" else asset.storage_key
    expires = int(timezone.now().timestamp()) + seconds
    made = FileLink(asset.id, download_name(asset, key), form, expires)
    query = urlencode({"form": form, "expires": expires, "signature": _signer().signature(str(made))})
    return f"{settings.BASE_URL}/files/{asset.id}/{quote(made.filename, safe='')}?{query}"


def _name(asset: MediaAsset, key: str) -> tuple[str, str]:
    """Letters, digits and a few signs of its stem, in any script, and the stored file's suffix."""
    stem = unicodedata.normalize("NFC", PurePosixPath(asset.filename).stem)
    kept = (sign if sign in " ._-()+" or unicodedata.category(sign)[0] in "LMN" else "-" for sign in stem)
    name = re.sub("-{2,}", "-", "".join(kept))[:MAX_NAME_CHARACTERS].strip(" .-")
    return name or asset.id, PurePosixPath(key).suffix


def _signer() -> Signer:
    return Signer(sep=":", salt="media.links")
