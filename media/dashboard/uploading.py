"""Upload of files from dashboard forms."""

from __future__ import annotations

from collections.abc import Iterable

from config.api.errors import ApiError
from config.api.uploads import Upload
from media.models import MediaAsset
from media.services import upload_media
from workspaces.workspace_page import WorkspacePage, record_refused_write


def upload_files(page: WorkspacePage, files: Iterable[Upload]) -> tuple[list[MediaAsset], list[str]]:
    """Upload the files to the media library; returns the new assets and a message for each refused file."""
    taken, problems = [], []
    for upload in files:
        try:
            taken.append(upload_media(caller=page.caller, workspace_id=page.workspace.id, upload=upload))
        except ApiError as error:
            record_refused_write(page, "media.upload", error)
            problems.append(f"{upload.filename} was not uploaded. {error.message} {error.suggested_action}")
    return taken, problems
