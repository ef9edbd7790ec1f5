"""One asset's page: what it is, who takes it, who uses it, what it shows, and its end."""

from __future__ import annotations

from django.http import HttpResponse

from config.db.ids import made_at
from media import selectors, services
from media.dashboard.forms import AltTextForm
from media.dashboard.words import KINDS, duration_told, fits_told
from media.links import link, picture_link
from media.models import MediaAsset
from workspaces.workspace_page import WorkspacePage, workspace_page

SHOWN_USES = 20


@workspace_page("GET", "POST", operation="media.describe")
def asset(page: WorkspacePage, media_id: str) -> HttpResponse:
    """The asset; its form sets the alt text. A deleted one has a page that says what became of its file."""
    found = selectors.asset_in(caller=page.caller, workspace_id=page.workspace.id, media_id=media_id)
    if page.request.method != "POST":
        if found.status == MediaAsset.Status.DELETED:
            return page.render("media/deleted.html", asset=found, kept=bool(found.storage_key or found.thumbnail_key))
        return _show(page, found, AltTextForm(found))
    form = AltTextForm(found, page.request.POST)
    if not form.is_valid():
        return _show(page, found, form, status=422)
    services.describe_media(caller=page.caller, media_id=found.id, alt_text=str(form.cleaned_data["alt_text"]))
    return page.success_redirect("The alt text is saved.", "media-asset", media_id=found.id)


@workspace_page("POST", operation="media.delete")
def delete(page: WorkspacePage, media_id: str) -> HttpResponse:
    found = selectors.asset_in(caller=page.caller, workspace_id=page.workspace.id, media_id=media_id)
    services.delete_media(caller=page.caller, media_id=found.id)
    return page.success_redirect(f"{found.filename} was deleted. Links to it no longer work.", "media")


def _show(page: WorkspacePage, found: MediaAsset, form: AltTextForm, *, status: int = 200) -> HttpResponse:
    form.fields["alt_text"].label = "Alt text"
    holders = selectors.holders_of(asset=found, limit=SHOWN_USES + 1)
    fits = fits_told(found)
    return page.render(
        "media/asset.html",
        status=status,
        asset=found,
        kind=KINDS[found.kind].one,
        lasts=duration_told(found.duration_ms),
        form=form,
        picture=picture_link(found),
        file=link(found),
        taken_by=[fit.platform for fit in fits if not fit.issues],
        refused_by=[fit for fit in fits if fit.issues],
        too_long_for=[fit.platform for fit in fits if any(row.code == "ALT_TEXT_TOO_LONG" for row in fit.issues)],
        uses=[(holder, made_at(holder)) for holder in holders[:SHOWN_USES]],
        more_uses=len(holders) > SHOWN_USES,
    )
