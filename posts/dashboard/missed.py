"""The dashboard page of posts whose times were missed, because the service could not publish them within hours."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _

from posts import selectors, services
from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.scheduling_words import sending_missed_message
from posts.dashboard.undo_of_several import store_undo_of_retries_in_session
from posts.dashboard.undo_offers import publish_now_due_at_or_none
from posts.services.missed import MAX_MISSED_POSTS
from posts.services.preferences import skips_undo_delay
from posts.states import SCHEDULE_MISSED
from workspaces.workspace_page import WorkspacePage, workspace_page


@workspace_page("GET", "POST", operation="posts.retry_missed")
def list_or_send_missed_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists missed posts, sends the chosen ones (all of them or none), and offers to undo the sending.

    Only the accounts for which the time was missed are retried. What is not chosen stays failed.
    """
    workspace_id = page.workspace.id
    if page.request.method != "POST":
        groups = selectors.recently_missed_posts(caller=page.caller, workspace_id=workspace_id, limit=MAX_MISSED_POSTS)
        shown = [(each, [t for t in each.targets.all() if (t.error or {}).get("code") == SCHEDULE_MISSED]) for each in groups]
        marks = AccountMarks(page, (target for _group, targets in shown for target in targets))
        rows = [(group, targets[0].scheduled_at, marks.marks_of_post(targets)) for group, targets in shown]
        return page.render(
            "posts/missed.html", shown=rows, sprite=marks.sprite(), skips_delay=skips_undo_delay(caller=page.caller)
        )
    chosen = page.request.POST.getlist("post")[:MAX_MISSED_POSTS]
    if not chosen:
        messages.info(page.request, _("Choose the posts to send."))
        return page.redirect(page.url_of_page("missed"))
    due = publish_now_due_at_or_none(page)
    sent = services.retry_missed_posts(
        caller=page.caller, workspace_id=workspace_id, post_group_ids=chosen, due_at=due
    ).changes
    return page.success_redirect(
        sending_missed_message(due, len(sent)), "missed", undo=store_undo_of_retries_in_session(page, sent) if due else ""
    )
