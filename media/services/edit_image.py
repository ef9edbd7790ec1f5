"""The services that make a new media asset from an image, by cropping it or as a smaller JPEG."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.utils.translation import gettext_noop

from config.api.caller import Caller
from config.api.errors import ValidationFailed, missing_or_foreign_id_error
from config.api.uploads import ReceivedFile
from media import selectors, storage
from media.backend_limits import limit_bucket_call
from media.cropping import MAX_RATIO, MIN_RATIO, CropPosition, crop_to_ratio, format_ratio
from media.errors import MediaTypeNotAllowed
from media.jpeg_conversion import convert_to_jpeg
from media.models import MediaAsset
from media.services.upload import upload_media


def crop_image(*, caller: Caller, media_id: str, ratio: float, position: CropPosition) -> MediaAsset:
    """Make a new media asset from an image, cropped to a ratio of width to height; the image itself stays as it is.

    The new asset has the same alt text, and is checked and counted as an upload. Raises ScopeMissing, NotFound,
    WorkspacePaused, ValidationFailed (ratio), MediaTypeNotAllowed (no image, an animation or too large), and the errors of
    `upload_media`.
    """
    asset = selectors.get_asset(caller=caller, media_id=media_id, scope="media.upload", write=True)
    if not MIN_RATIO <= ratio <= MAX_RATIO:
        raise ValidationFailed.for_field("ratio", gettext_noop("No image has this ratio."))
    name = f"{PurePosixPath(asset.filename).stem} {format_ratio(ratio).replace(':', '-')}"
    suffix = ".png" if asset.mime_type == "image/gif" else PurePosixPath(asset.filename).suffix
    return _upload_edited_image(
        caller, asset, name + suffix, lambda content: crop_to_ratio(content, asset.mime_type, ratio, position)
    )


def convert_image_to_jpeg(
    *, caller: Caller, media_id: str, max_bytes: int, max_size: tuple[int, int] | None = None
) -> MediaAsset:
    """Make a new media asset from an image: a JPEG file of at most `max_bytes`, not wider or higher than `max_size`.

    The image itself stays as it is. The new asset has the same alt text, and is checked and counted as an upload. Raises
    ScopeMissing, NotFound, WorkspacePaused, MediaTypeNotAllowed (no image, an animation or too large), and the errors of
    `upload_media`.
    """
    asset = selectors.get_asset(caller=caller, media_id=media_id, scope="media.upload", write=True)
    return _upload_edited_image(
        caller,
        asset,
        f"{PurePosixPath(asset.filename).stem}.jpg",
        lambda content: convert_to_jpeg(content, asset.mime_type, max_bytes=max_bytes, max_size=max_size),
    )


def _upload_edited_image(caller: Caller, asset: MediaAsset, filename: str, edit: Callable[[bytes], bytes]) -> MediaAsset:
    if asset.kind != MediaAsset.Kind.IMAGE:
        raise MediaTypeNotAllowed(gettext_noop("Only images can be changed here."))
    try:
        with limit_bucket_call(), storage.open_file(asset.storage_key) as file:
            content = file.read()
    except FileNotFoundError as error:  # deleted a moment ago
        raise missing_or_foreign_id_error(None, "media asset") from error
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as edited:
        edited.write(edit(content))
        edited.flush()
        upload = ReceivedFile.from_path(Path(edited.name), filename)
        return upload_media(caller=caller, workspace_id=asset.workspace_id, upload=upload, alt_text=asset.alt_text)
