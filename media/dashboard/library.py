"""The dashboard's media library page, and the page that asks for the alt texts of new uploads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from config.api.caller import require_access
from config.api.errors import ApiError
from config.api.uploads import ReceivedFile, uploaded_files_in_field
from config.pages.sentences import error_sentences
from media import selectors, services
from media.dashboard.formatting import KIND_LABELS, KIND_PLURALS, format_quota_usage
from media.dashboard.forms import AltTextForm
from media.file_types import SUFFIXES
from media.links import signed_preview_url
from media.models import MediaAsset
from workspaces.workspace_page import WorkspacePage, record_refused_write, workspace_page

PER_PAGE = 48
MAX_ASSETS_TO_DESCRIBE = 50
MAX_SEARCH_CHARACTERS = 200


@dataclass(frozen=True)
class AssetTile:
    """A media asset as one tile in the grid of the dashboard's media library page.

    `picture` is the URL of the asset's preview, or "" if there is none.
    """

    asset: MediaAsset
    picture: str

    @property
    def kind_label(self) -> str:
        return str(KIND_LABELS[self.asset.kind])

    @property
    def lacks_alt_text(self) -> bool:
        """Return whether a tile of the media library page shows an image or GIF without alt text."""
        is_picture = self.asset.kind in (MediaAsset.Kind.IMAGE, MediaAsset.Kind.GIF)
        return is_picture and not self.asset.alt_text.strip()


@workspace_page("GET", "POST", operation="media.upload", files=True)
def show_library_or_upload_files(page: WorkspacePage) -> HttpResponse:
    """Show the media library page with its search, newest assets first, or upload the files submitted on this page."""
    if page.request.method != "POST":
        return _show(page)
    require_access(page.caller, page.workspace.id, "media.upload")
    uploaded, problems = upload_files_collecting_errors(page, uploaded_files_in_field(page.request, "file"))
    if not uploaded:
        return _show(page, problems or [_("Choose a file first.")], status=422)
    for problem in problems:
        messages.error(page.request, problem)
    ids = [("id", asset.id) for asset in uploaded[:MAX_ASSETS_TO_DESCRIBE]]
    address = f"{page.url_of_page('media-describe')}?{urlencode(ids)}"
    return HttpResponseClientRedirect(address) if "HX-Request" in page.request.headers else page.redirect(address)


@workspace_page("GET", "POST", operation="media.describe")
def show_or_save_alt_texts_of_uploads(page: WorkspacePage) -> HttpResponse:
    """Show the page that asks for the alt texts of new uploads in the media library, or save the submitted texts.

    The query string names the uploads.
    """
    if not page.may_write_posts:
        return page.redirect(page.url_of_page("media"))
    ids = page.request.GET.getlist("id")[:MAX_ASSETS_TO_DESCRIBE]
    assets = selectors.assets_by_id(workspace_id=page.workspace.id, ids=ids)
    if not assets:
        return page.redirect(page.url_of_page("media"))
    sent = page.request.POST if page.request.method == "POST" else None
    rows = [(AltTextForm(assets[pk], sent), signed_preview_url(assets[pk])) for pk in dict.fromkeys(ids) if pk in assets]
    if sent is None or not all(form.is_valid() for form, _picture in rows):
        return page.render("media/describe.html", rows=rows, status=200 if sent is None else 422)
    for form, _picture in rows:
        services.set_alt_text(caller=page.caller, media_id=form.asset.id, alt_text=str(form.cleaned_data["alt_text"]))
    return page.success_redirect(_("Saved."), "media")


def upload_files_collecting_errors(page: WorkspacePage, files: Iterable[ReceivedFile]) -> tuple[list[MediaAsset], list[str]]:
    """Upload files from a dashboard form; returns the new media assets, and an error message for each refused file."""
    assets, problems = [], []
    for upload in files:
        try:
            assets.append(services.upload_media(caller=page.caller, workspace_id=page.workspace.id, upload=upload))
        except ApiError as error:
            record_refused_write(page, "media.upload", error)
            problem = _("%(name)s was not uploaded.") % {"name": upload.filename}
            problems.append(" ".join([problem, *error_sentences(error)]))
    return assets, problems


def _show(page: WorkspacePage, problems: Sequence[str] = (), *, status: int = 200) -> HttpResponse:
    asked = page.request.GET
    words, kind = asked.get("q", "")[:MAX_SEARCH_CHARACTERS].replace("\0", ""), asked.get("kind", "")
    found = selectors.search_assets(
        caller=page.caller,
        workspace_id=page.workspace.id,
        words=words,
        kind=kind if kind in KIND_LABELS else None,
        limit=PER_PAGE,
        cursor=asked.get("cursor"),
    )
    return page.render(
        "media/library.html",
        status=status,
        tiles=[AssetTile(asset, signed_preview_url(asset)) for asset in found.rows],
        next_cursor=found.next_cursor,
        words=words,
        kinds=KIND_PLURALS.items(),
        narrowed=bool(words.strip()) or kind in KIND_LABELS,
        searched=selectors.MAX_ASSETS_SEARCHED_PER_PAGE,
        accepted=",".join(SUFFIXES),
        problems=problems,
        usage=format_quota_usage(selectors.used_quota_bytes(page.workspace.id)),
    )
