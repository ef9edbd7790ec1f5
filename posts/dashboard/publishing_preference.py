"""The dashboard page on which a person chooses whether publishing can be undone."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _

from posts.dashboard.undo_offers import UNDO_SECONDS
from posts.services.preferences import save_whether_undo_delay_is_skipped, skips_undo_delay
from workspaces.workspace_page import WorkspacePage, workspace_page


@workspace_page("GET", "POST")
def show_or_save_undo_delay_preference(page: WorkspacePage) -> HttpResponse:
    """Dashboard page on which a person chooses whether publishing waits some seconds, in which it can be undone."""
    if page.request.method == "POST":
        save_whether_undo_delay_is_skipped(caller=page.caller, skips_delay="at_once" in page.request.POST)
        return page.success_redirect(_("Saved."), "compose")
    skips_delay = skips_undo_delay(caller=page.caller)
    return page.render("posts/publishing_preference.html", skips_delay=skips_delay, seconds=UNDO_SECONDS)
