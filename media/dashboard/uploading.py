"""Files that a page's form brings."""

from __future__ import annotations

from collections.abc import Iterable

from config.api.errors import ApiError
from config.api.uploads import Upload
from media.models import MediaAsset
from media.services import upload_media
from workspaces.workspace_page import WorkspacePage, record_refused_write


def upload_files(page: WorkspacePage, files: Iterable[Upload]) -> tuple[list[MediaAsset], list[str]]:
    """Put the files into the library: the assets that they became, and what is told of those that were refused."""
    taken, problems = [], []
    for upload in files:
        try:
            taken.append(upload_media(caller=page.caller, workspace_id=page.workspace.id, upload=upload))
        except ApiError as error:
            record_refused_write(page, "media.upload", error)
            problems.append(f"{upload.filename} was not taken. {error.message} {error.suggested_action}")
    return taken, problems
