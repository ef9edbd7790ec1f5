"""The dashboard page of posts whose times were missed, because the service could not publish them within hours."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from posts import selectors, services
from posts.dashboard.account_marks import AccountMarks
from posts.services.missed import MAX_MISSED_POSTS
from posts.states import SCHEDULE_MISSED
from workspaces.workspace_page import WorkspacePage, workspace_page


@workspace_page("GET", "POST", operation="posts.retry_missed")
def list_or_send_missed_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the missed posts, and sends the chosen ones now, all of them or none.

    Only the accounts for which the time was missed are retried. What is not chosen stays failed.
    """
    workspace_id = page.workspace.id
    if page.request.method != "POST":
        groups = selectors.missed_posts(caller=page.caller, workspace_id=workspace_id, limit=MAX_MISSED_POSTS)
        shown = [(each, [t for t in each.targets.all() if (t.error or {}).get("code") == SCHEDULE_MISSED]) for each in groups]
        marks = AccountMarks(page, (target for _group, targets in shown for target in targets))
        rows = [(group, targets[0].scheduled_at, marks.marks_of_post(targets)) for group, targets in shown]
        return page.render("posts/missed.html", shown=rows, sprite=marks.sprite())
    chosen = page.request.POST.getlist("post")[:MAX_MISSED_POSTS]
    if not chosen:
        messages.info(page.request, _("Choose the posts to send."))
        return page.redirect(page.url_of_page("missed"))
    sent = len(services.retry_missed_posts(caller=page.caller, workspace_id=workspace_id, post_group_ids=chosen).resource_ids)
    words = ngettext(
        "%(count)d post is being sent. This cannot be undone.", "%(count)d posts are being sent. This cannot be undone.", sent
    )
    return page.success_redirect(words % {"count": sent}, "missed")
