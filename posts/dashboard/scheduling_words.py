"""What dashboard pages say after a person has scheduled or published a post."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.pages.language import format_date
from posts.dashboard.approval_words import awaits_approval_message_with_time
from posts.dashboard.undo_offers import UNDO_SECONDS
from workspaces.workspace_page import WorkspacePage


def scheduled_for_message(page: WorkspacePage, at: datetime | None) -> str:
    """Return the message after scheduling a post, such as "Scheduled for Tuesday, 24 November 2026, 09:00."."""
    time = format_date(at.astimezone(page.zone), "l, j F Y, H:i") if at else ""
    if not page.may_publish_without_approval:
        return awaits_approval_message_with_time(time)
    return _("Scheduled for %(time)s.") % {"time": time} if time else _("Scheduled.")


def publishing_message(at: datetime | None) -> str:
    """Return the dashboard's message after a person has published a post; `at` is when it is sent, None for at once."""
    if at is None:
        return _("It is being published now. This cannot be undone.")
    return _("It is published in %(seconds)d seconds.") % {"seconds": UNDO_SECONDS}


def sending_again_message(at: datetime | None) -> str:
    """Return the dashboard's message after a person has retried a failed post; `at` is when it is sent, None for at once."""
    if at is None:
        return _("The post is being sent again. This cannot be undone.")
    return _("The post is sent again in %(seconds)d seconds.") % {"seconds": UNDO_SECONDS}


def sending_missed_message(at: datetime | None, count: int) -> str:
    """Return the dashboard's message after a person has sent missed posts; `at` is when they are sent, None for at once."""
    words = ngettext(
        "%(count)d post is sent in %(seconds)d seconds.", "%(count)d posts are sent in %(seconds)d seconds.", count
    )
    if at is None:
        words = ngettext(
            "%(count)d post is being sent. This cannot be undone.",
            "%(count)d posts are being sent. This cannot be undone.",
            count,
        )
    return words % {"count": count, "seconds": UNDO_SECONDS}
