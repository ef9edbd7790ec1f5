"""Rendering of thumbnails for images and videos, as JPEG, or as WebP if transparent; metadata are not copied."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings
from PIL import Image, ImageCms

from media.inspection.bounds import MAX_WORKING_BYTES
from media.inspection.ffmpeg import DEMUXERS, run_ffmpeg_with_limits
from media.inspection.image_metadata import exif_orientation
from media.inspection.images import decode_semaphore, parse_image_layout
from media.inspection.webp import BYTES_PER_PIXEL

MAX_SIDE = 320
QUALITY = 80
FFMPEG_SECONDS = 20
FFMPEG_MEMORY_BYTES = 512 * 1024 * 1024  # enough for 4K video with sixteen reference frames
FRAME_AT_SECONDS = 1.0  # many videos begin with a black frame
_TILE = 1024
ROTATIONS_BY_ORIENTATION = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class NoVideoFrame(Exception):
    """The error raised if ffmpeg cannot extract a frame of a video for its thumbnail."""


@dataclass(frozen=True)
class Thumbnail:
    """A rendered thumbnail as an encoded file; `suffix` is for example `.jpg`."""

    content: bytes
    suffix: str


def render_image_thumbnail_or_none(content: bytes, mime_type: str) -> Thumbnail | None:
    """Render the thumbnail of an uploaded image, rotated by its EXIF orientation.

    An animation's thumbnail shows the first frame. Returns None if decoding would need more than MAX_WORKING_BYTES. Raises
    the decoder's error for a broken file.
    """
    layout = parse_image_layout(content, mime_type)
    working_bytes = layout.working_bytes
    if mime_type == "image/webp":
        working_bytes = BYTES_PER_PIXEL * layout.width * layout.height
    if working_bytes > MAX_WORKING_BYTES:
        return None
    format_name = mime_type.removeprefix("image/").upper()
    with decode_semaphore, Image.open(io.BytesIO(content[: layout.end]), formats=[format_name]) as image:
        sides = _thumbnail_size(*image.size)
        image.draft(None, (2 * sides[0], 2 * sides[1]))  # JPEGs may be decoded at a reduced size
        small = convert_to_srgb(_shrink(image, sides), image.info.get("icc_profile"))
    turn = ROTATIONS_BY_ORIENTATION.get(exif_orientation(layout.exif))
    return _encode(small if turn is None else small.transpose(turn))


def render_video_thumbnail_or_none(
    opened: Callable[[], BinaryIO], *, mime_type: str, sides: tuple[int, int], seconds: float
) -> Thumbnail | None:
    """Render the thumbnail of an uploaded video from one of its frames with ffmpeg; returns None if FFMPEG is not set.

    `opened` opens the video as a local file; `sides` is its displayed size. Raises NoVideoFrame, subprocess.TimeoutExpired,
    and the errors of `opened`.
    """
    if not settings.FFMPEG:
        return None
    width, height = _thumbnail_size(*sides)
    call = [
        *(settings.FFMPEG, "-v", "error", "-nostdin", "-protocol_whitelist", "file", "-f", DEMUXERS[mime_type]),
        *("-threads", "1", "-ss", f"{min(FRAME_AT_SECONDS, seconds / 2):.3f}", "-i", "file:/dev/stdin"),
        *("-map", "0:V:0", "-frames:v", "1", "-filter_threads", "1", "-vf", f"scale={width}:{height}"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"),
    ]
    with opened() as file:
        result = run_ffmpeg_with_limits(call, seconds=FFMPEG_SECONDS, memory=FFMPEG_MEMORY_BYTES, stdin=file)
    if result.returncode != 0 or len(result.stdout) != 3 * width * height:
        raise NoVideoFrame(f"ffmpeg ended with {result.returncode} and {len(result.stdout)} bytes.")
    return _encode(Image.frombytes("RGB", (width, height), result.stdout))


def _thumbnail_size(width: int, height: int) -> tuple[int, int]:
    """Return the width and height of an image's thumbnail; small images are not enlarged."""
    scale = min(1.0, MAX_SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _shrink(image: Image.Image, sides: tuple[int, int]) -> Image.Image:
    """Return an image resized to the size of its thumbnail, in the colour mode RGB, RGBA or CMYK.

    It is first reduced tile by tile to at least twice that size, so that memory never contains a second copy of all pixels.
    """
    width, height = image.size
    mode = colour_mode_of(image)
    across, down = max(1, width // (2 * sides[0])), max(1, height // (2 * sides[1]))
    columns, rows = across * math.ceil(_TILE / across), down * math.ceil(_TILE / down)
    reduced = Image.new(mode, (math.ceil(width / across), math.ceil(height / down)))
    for top in range(0, height, rows):
        for left in range(0, width, columns):
            tile = image.crop((left, top, min(left + columns, width), min(top + rows, height)))
            reduced.paste(convert_to_eight_bits(tile).convert(mode).reduce((across, down)), (left // across, top // down))
    return reduced.resize(sides, Image.Resampling.LANCZOS)


def convert_to_eight_bits(image: Image.Image) -> Image.Image:
    """Return an image, such as for a thumbnail, with 8 bits per channel; 16 bits are scaled, since Pillow would clip them."""
    return image.point(lambda value: value / 256).convert("L") if image.mode == "I;16" else image


def colour_mode_of(image: Image.Image) -> str:
    """Return the colour mode in which an image is resized or encoded, such as for its thumbnail: RGB, RGBA or CMYK."""
    if image.mode == "CMYK":
        return "CMYK"
    return "RGBA" if image.has_transparency_data and image.mode != "I;16" else "RGB"


def convert_to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert an image to sRGB before its thumbnail, crop or JPEG is encoded; invalid colour profiles are ignored."""
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    if profile:
        try:
            theirs, ours = ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
            image = ImageCms.profileToProfile(image, theirs, ours, outputMode=mode) or image
        except (ImageCms.PyCMSError, OSError):
            pass
    return image.convert(mode)


def _encode(image: Image.Image) -> Thumbnail:
    file = io.BytesIO()
    if image.mode == "RGBA" and image.getchannel("A").getextrema() != (255, 255):
        image.save(file, "WEBP", quality=QUALITY)
        return Thumbnail(file.getvalue(), ".webp")
    image.convert("RGB").save(file, "JPEG", quality=QUALITY, optimize=True)
    return Thumbnail(file.getvalue(), ".jpg")
