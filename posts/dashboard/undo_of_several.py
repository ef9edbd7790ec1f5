"""Undo of an action on several posts, or of one retry: their former state, too long for a URL, is kept in the session."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import ngettext

from config.api.errors import ApiError
from config.pages.sentences import PageRefusal
from posts.dashboard.approval_words import sentence_on_moved_posts_awaiting_approval
from posts.dashboard.inputs import get_post_group_of_workspace
from posts.dashboard.undo import TOO_LATE_MESSAGE, UNDO_TOKEN_SECONDS, apply_undo_offer_to_post
from posts.dashboard.undo_offers import UndoOffer, undo_offer_of_retry
from posts.plan import GroupChange
from workspaces.workspace_page import WorkspacePage, record_refused_write, workspace_page

SESSION_KEY, SESSION_KEY_OF_RETRIES = "undo_of_several", "undo_of_retries"  # a retry leaves the undo of others in place


def store_undo_of_several_and_return_url(page: WorkspacePage, offers: Sequence[UndoOffer]) -> str:
    """Store in the session how to undo an action on several posts, replacing the last one; return the undo button's URL."""
    token = secrets.token_urlsafe(16)
    key = SESSION_KEY_OF_RETRIES if offers[0].action == "retry" else SESSION_KEY
    page.request.session[key] = {
        "token": token,
        "workspace_id": page.workspace.id,
        "ends": time.time() + UNDO_TOKEN_SECONDS,
        "offers": [asdict(each) for each in offers],
    }
    seconds = max(each.seconds for each in offers)
    return f"{page.url_of_page('posts-undo')}?{urlencode({'token': token, 'seconds': seconds or ''})}"


def store_undo_of_retries_in_session(page: WorkspacePage, changes: Sequence[GroupChange]) -> str:
    """Store in the session how to undo a committed plan's retries of failed posts; return the undo button's URL."""
    return store_undo_of_several_and_return_url(page, [undo_offer_of_retry(change) for change in changes])


@workspace_page("POST", operation="posts.update")
def undo_last_action_on_several_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard action that undoes what the signed-in person has just done with some posts, as far as it is possible."""
    session, token = page.request.session, page.request.GET.get("token", "")
    keys = (key for key in (SESSION_KEY, SESSION_KEY_OF_RETRIES) if session.get(key, {}).get("token") == token)
    kept = session.pop(next(keys, ""), {})
    if kept.get("workspace_id") != page.workspace.id or kept["ends"] < time.time():
        raise PageRefusal(str(TOO_LATE_MESSAGE))
    undone, waiting, refused = 0, 0, 0
    for content in kept["offers"]:
        try:
            offer = UndoOffer(**content)
            waiting += apply_undo_offer_to_post(page, get_post_group_of_workspace(page, offer.subject), offer)
            undone += 1
        except ApiError as error:
            record_refused_write(page, "posts.update", error)
            refused += 1
    if refused:
        stayed = ngettext("%(count)d post stayed as it is now.", "%(count)d posts stayed as they are now.", refused)
        messages.error(page.request, " ".join([str(TOO_LATE_MESSAGE), stayed % {"count": refused}]))
    if not undone:
        return page.redirect_back()
    words = ngettext("Undone for %(count)d post.", "Undone for %(count)d posts.", undone)
    if kept["offers"][0]["action"] == "retry":
        words = ngettext("Undone: the post is not sent again.", "Undone: the posts are not sent again.", undone)
    return page.success_redirect_back(
        f"{words % {'count': undone}} {sentence_on_moved_posts_awaiting_approval(waiting, undone)}".strip()
    )
