"""The dashboard page of one media asset: preview, alt text, platforms that accept it, use in posts, and deletion."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _

from accounts.dashboard.issue_sentences import advice_sentence, issue_sentence
from accounts.platforms.issues import Issue
from accounts.platforms.media_check import asset_issues, media_list_and_alt_text_issues
from accounts.platforms.registry import all_adapters
from config.db.ids import creation_time_of_id
from media import selectors, services
from media.dashboard.formatting import KIND_LABELS, format_duration
from media.dashboard.forms import AltTextForm
from media.links import signed_file_url, signed_preview_url
from media.models import MediaAsset
from workspaces.workspace_page import WorkspacePage, workspace_page

MAX_SHOWN_USES = 20


@workspace_page("GET", "POST", operation="media.describe")
def show_asset_or_save_alt_text(page: WorkspacePage, media_id: str) -> HttpResponse:
    """Show the dashboard page of one media asset, or save the alt text that was entered on this page.

    For a deleted asset, the page shows whether its file remains.
    """
    found = selectors.get_asset_even_deleted(caller=page.caller, workspace_id=page.workspace.id, media_id=media_id)
    if page.request.method != "POST":
        if found.status == MediaAsset.Status.DELETED:
            return page.render("media/deleted.html", asset=found, file_remains=bool(found.storage_key or found.thumbnail_key))
        return _show(page, found, AltTextForm(found))
    form = AltTextForm(found, page.request.POST)
    if not form.is_valid():
        return _show(page, found, form, status=422)
    services.set_alt_text(caller=page.caller, media_id=found.id, alt_text=str(form.cleaned_data["alt_text"]))
    return page.success_redirect(_("The alt text is saved."), "media-asset", media_id=found.id)


@workspace_page("POST", operation="media.delete")
def delete_asset(page: WorkspacePage, media_id: str) -> HttpResponse:
    """Dashboard action that deletes a media asset, unless an unfinished post uses it."""
    found = selectors.get_asset_even_deleted(caller=page.caller, workspace_id=page.workspace.id, media_id=media_id)
    services.delete_media(caller=page.caller, media_id=found.id)
    message = _("%(name)s was deleted. Links to it no longer work.") % {"name": found.filename}
    return page.success_redirect(message, "media")


def _advice(issue: Issue) -> str:
    """Return the advice on how to make a platform accept the media asset; "" if only another file would be accepted."""
    removed = issue.repair_hint is not None and issue.repair_hint.action == "remove_media"
    return "" if removed else advice_sentence(issue)


def _show(page: WorkspacePage, found: MediaAsset, form: AltTextForm, *, status: int = 200) -> HttpResponse:
    form.fields["alt_text"].label = _("Alt text")
    holders = selectors.ids_of_unfinished_posts_using(asset=found, limit=MAX_SHOWN_USES + 1)
    errors = _asset_errors_by_platform(found)
    return page.render(
        "media/asset.html",
        status=status,
        asset=found,
        kind=KIND_LABELS[found.kind],
        lasts=format_duration(found.duration_ms),
        form=form,
        picture=signed_preview_url(found),
        file=signed_file_url(found),
        accepted_by=[label for label, issues in errors.items() if not issues],
        refused_by=[
            (label, [(issue_sentence(row, label), _advice(row)) for row in issues])
            for label, issues in errors.items()
            if issues
        ],
        too_long_for=[label for label, issues in errors.items() if "ALT_TEXT_TOO_LONG" in {row.code for row in issues}],
        uses=[(holder, creation_time_of_id(holder)) for holder in holders[:MAX_SHOWN_USES]],
        more_uses=len(holders) > MAX_SHOWN_USES,
    )


def _asset_errors_by_platform(asset: MediaAsset) -> dict[str, list[Issue]]:
    """Return the errors that prevent posting a media asset with its alt text, for each platform that accepts media.

    The keys are the platforms' labels; a platform that accepts the asset has an empty list.
    """
    properties, errors = asset.media_info(), {}
    for each in all_adapters():
        rules = each.capabilities.media
        if not rules.max_count:
            continue
        alone = asset_issues(each.label, rules, properties, "file")
        described = [
            issue
            for issue in media_list_and_alt_text_issues(each.label, rules, [properties])
            if issue.field.endswith("alt_text")
        ]
        errors[each.label] = [issue for issue in (*alone, *described) if issue.severity == "error"]
    return errors
