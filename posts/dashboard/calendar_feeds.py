"""The dashboard page of calendar feeds: create one, see its secret address once, and delete it."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _

from posts.calendar_feed_selectors import MAX_TARGETS_AHEAD, MAX_TARGETS_BEFORE, list_calendar_feeds
from posts.models import CalendarFeed
from posts.services.calendar_feeds import CreatedFeed, create_calendar_feed, delete_calendar_feed
from workspaces.workspace_page import WorkspacePage, run_once_per_submission, workspace_page

PER_PAGE = 50
CREATE_OPERATION = "calendar_feeds.create"


@workspace_page("GET", "POST", operation=CREATE_OPERATION)
def list_or_create_calendar_feeds(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the calendar feeds, and create one on POST. Only that response shows the feed's address."""
    created: list[CreatedFeed] = []

    def create() -> CalendarFeed:
        created.append(create_calendar_feed(caller=page.caller, workspace_id=page.workspace.id))
        return created[0].feed

    if page.request.method == "POST" and run_once_per_submission(page, CREATE_OPERATION, create)[1]:
        message = _("This calendar feed was already created and shown. If nobody saved its address, delete it.")
        return page.success_redirect(message, "calendar-feeds")
    found = list_calendar_feeds(
        caller=page.caller, workspace_id=page.workspace.id, limit=PER_PAGE, cursor=page.request.GET.get("cursor")
    )
    return page.render(
        "posts/calendar_feeds.html",
        feeds=found.rows,
        next_cursor=found.next_cursor,
        new_address=created[0].url if created else None,
        most_before=MAX_TARGETS_BEFORE,
        most_ahead=MAX_TARGETS_AHEAD,
    )


@workspace_page("POST", operation="calendar_feeds.delete")
def delete_feed(page: WorkspacePage, feed_id: str) -> HttpResponse:
    """Dashboard page: delete a calendar feed, whose address then stops working at once."""
    delete_calendar_feed(caller=page.caller, workspace_id=page.workspace.id, feed_id=feed_id)
    return page.success_redirect(_("The calendar feed is deleted. Its address no longer works."), "calendar-feeds")
