"""The dashboard page of posts whose times were missed, because the service could not publish them within hours."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse

from config.api.errors import ApiError
from config.pages.sentences import error_sentences
from posts import selectors, services
from posts.states import SCHEDULE_MISSED
from workspaces.workspace_page import WorkspacePage, record_refused_write, workspace_page

MAX_POSTS = 100


@workspace_page("GET", "POST", operation="posts.retry")
def missed_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the missed posts, and sends the chosen ones now; each is sent or refused on its own.

    Only the accounts for which the time was missed are retried. What is not chosen stays failed.
    """
    groups = selectors.missed_posts(caller=page.caller, workspace_id=page.workspace.id, limit=MAX_POSTS)
    if page.request.method != "POST":
        shown = [(each, [t for t in each.targets.all() if (t.error or {}).get("code") == SCHEDULE_MISSED]) for each in groups]
        return page.render("posts/missed.html", shown=shown)
    chosen = set(page.request.POST.getlist("post"))
    sent, refused = 0, []
    for group in groups:
        if group.id in chosen:
            try:
                services.retry_post(caller=page.caller, post_group_id=group.id, only_missed=True)
                sent += 1
            except ApiError as error:
                record_refused_write(page, "posts.retry", error)
                refused += error_sentences(error, "posts.retry")
    for sentence in dict.fromkeys(refused):
        messages.error(page.request, f"Some posts were not sent. {sentence}")
    if not chosen:
        messages.info(page.request, "Choose the posts to send.")
    if not sent:
        return page.redirect(page.url_of_page("missed"))
    words = "1 post is being sent." if sent == 1 else f"{sent} posts are being sent."
    return page.success_redirect(f"{words} This cannot be undone.", "missed")
