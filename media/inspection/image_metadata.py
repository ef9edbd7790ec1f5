"""Image metadata (EXIF, XMP, IPTC): reads the orientation, and detects geolocation.

EXIF has the structure of TIFF (CIPA DC-008 section 4.6), XMP is XML, and IPTC is in Photoshop's image resource blocks. The
metadata may be malformed: these functions follow no pointer beyond the first directory and never raise.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

EXIF_PREFIX = b"Exif\x00\x00"
_ORIENTATION = 0x0112
_SHORT = 3
_ENTRIES = 1000

# The TIFF entry that points to the GPS directory (tag 0x8825, of type LONG or IFD, one value), in both byte orders. A search
# for these bytes also finds it in thumbnails, in camera makers' own blocks, and in blocks too broken to be parsed.
_GPS_POINTERS = (
    *(b"\x88\x25\x00" + kind + b"\x00\x00\x00\x01" for kind in (b"\x04", b"\x0d")),
    *(b"\x25\x88" + kind + b"\x00\x01\x00\x00\x00" for kind in (b"\x04", b"\x0d")),
)
# XMP property names (exif, photoshop, Iptc4xmpCore, Iptc4xmpExt, the W3C's geo, drone makers), in lower case, and the
# geolocation keys of videos. All are too long to occur by chance in megabytes of compressed data.
_NAMES = (
    *(b"gps" + name for name in (b"latitude", b"longitude", b"longtitude", b"altitude", b"coordinate", b"position")),
    *(b"gps" + name for name in (b"dest", b"mapdatum", b"imgdirection", b"info")),
    *(b"photoshop:" + name for name in (b"city", b"state", b"country")),
    *(b"iptc4xmpcore:location", b"iptc4xmpcore:countrycode", b"iptc4xmpext:location", b"geo:lat", b"geo:long"),
    *(name + sign for name in (b"latitude", b"longitude") for sign in (b"=", b">", b'"', b"'", b":")),
    b"location.iso6709",
)
_QUICKTIME = b"\xa9xyz\x00"
_ISO_6709 = re.compile(rb"[+-]\d{2}\.\d{2,}[+-]\d{3}\.\d{2,}")  # +52.5164+013.3777/

# Datasets of IPTC's application record (IIM 4.2): content location code and name, city, sublocation, province, country.
_IPTC_PLACES = frozenset((26, 27, 90, 92, 95, 100, 101))
_IPTC_RESOURCE = 0x0404


def contains_geolocation(block: bytes) -> bool:
    """Search image metadata (EXIF, XMP or text) for a geolocation; return whether there is one.

    `block` may also be a file with such metadata.
    """
    if any(pointer in block for pointer in _GPS_POINTERS) or _QUICKTIME in block or _ISO_6709.search(block):
        return True
    lower = block.lower()
    return any(name in lower for name in _NAMES)


def photoshop_block_has_geolocation(block: bytes) -> bool:
    """Search image metadata written by Photoshop (JPEG's APP13 segment) for a geolocation; return whether there is one.

    They may have it in IPTC, EXIF or XMP.
    """
    return contains_geolocation(block) or any(
        identifier == _IPTC_RESOURCE and iptc_has_geolocation(content) for identifier, content in _resources(block)
    )


def iptc_has_geolocation(block: bytes) -> bool:
    """Parse image metadata in IPTC format: return whether a field names a place."""
    at = 0
    while at + 5 <= len(block) and block[at] == 0x1C:
        record, dataset, length = struct.unpack_from(">BBH", block, at + 1)
        if record == 2 and dataset in _IPTC_PLACES and length:
            return True
        at += 5 + length
    return False


def _resources(block: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the identifier and content of each Photoshop resource block (signature `8BIM`) in an image's metadata.

    See Photoshop File Formats, "Image Resource Blocks".
    """
    at = block.find(b"8BIM")
    while at >= 0 and at + 12 <= len(block) and block[at : at + 4] == b"8BIM":
        identifier, name_length = struct.unpack_from(">HB", block, at + 4)
        size_at = at + 6 + (name_length + 2) // 2 * 2
        if size_at + 4 > len(block):
            return
        (size,) = struct.unpack_from(">I", block, size_at)
        yield identifier, block[size_at + 4 : size_at + 4 + size]
        at = size_at + 4 + size + size % 2


def exif_orientation(exif: bytes) -> int:
    """Return an image's EXIF orientation (1 to 8) from the first directory of the EXIF block; 1 if none is stated.

    The block may begin with the EXIF prefix.
    """
    tiff = exif.removeprefix(EXIF_PREFIX)
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(tiff[:4])
    if order is None or len(tiff) < 8:
        return 1
    (directory,) = struct.unpack_from(f"{order}I", tiff, 4)
    if directory + 2 > len(tiff):
        return 1
    (entries,) = struct.unpack_from(f"{order}H", tiff, directory)
    for at in range(directory + 2, directory + 2 + 12 * min(entries, _ENTRIES), 12):
        if at + 12 > len(tiff):
            break
        tag, kind, _count, value = struct.unpack_from(f"{order}HHIH", tiff, at)
        if (tag, kind) == (_ORIENTATION, _SHORT):
            return value if 1 <= value <= 8 else 1
    return 1


def exif_with_only_orientation(exif: bytes) -> bytes:
    """Return a new EXIF block (in TIFF format) that contains only the orientation of the image's `exif` block."""
    return b"II*\x00" + struct.pack("<IHHHIHHI", 8, 1, _ORIENTATION, _SHORT, 1, exif_orientation(exif), 0, 0)
