"""Moving posts in the calendar: an entry is moved to another time by dragging it, or with the form "Move"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.api.errors import NotFound, ValidationFailed
from config.pages.language import format_date
from config.pages.sentences import PageRefusal, sentence_about_invalid_field
from posts import services
from posts.dashboard.approval_words import count_needing_approval_if_moved, moved_message_with_approval_count
from posts.dashboard.calendar_entries import reason_not_to_move, targets_at_moment
from posts.dashboard.calendar_slots import is_coming_slot_of_account
from posts.dashboard.forms import ScheduleForm
from posts.dashboard.inputs import get_post_group_of_workspace, parse_iso_moment_with_zone_or_none
from posts.dashboard.undo_offers import undo_offer_of_move
from posts.models import PostGroup, PostTarget
from posts.services.target_moves import TargetTime, edit_that_moves_targets, targets_that_keep_their_times
from workspaces.workspace_page import WorkspacePage, workspace_page

ENTRY_TIME_PARAMETER = "at"  # the time that the entry has now; the other parameters are those of the calendar


@workspace_page("GET", "POST", operation="posts.update")
def move_entry(page: WorkspacePage, post_group_id: str) -> HttpResponse:
    """Dashboard page that moves one entry of the calendar: the targets of a post that have the time in the address.

    Then it leads back to the calendar, which offers to undo the move. It shows the form again for an invalid time.
    """
    group = get_post_group_of_workspace(page, post_group_id)
    moment = _moment_of_address(page)
    targets = targets_at_moment(group.targets.all(), moment)
    if not targets:
        raise PageRefusal(_("The post has no longer this time. Look at the calendar again."))
    reason = reason_not_to_move(page, group.status, targets)
    sent = page.request.POST if page.request.method == "POST" else None
    schedule = ScheduleForm(sent, zone=page.zone, at=moment, required=True)
    if sent is not None and not reason and schedule.is_valid():
        try:
            at = schedule.chosen_time_or_none
            version = group.content_version
            edit = edit_that_moves_targets(group, targets, TargetTime(at, _takes_slot(page, targets, at)))
            services.update_post(caller=page.caller, post_group_id=group.id, content_version=version, edit=edit)
        except ValidationFailed as error:
            for row in error.details or []:
                schedule.add_error("when", sentence_about_invalid_field(row))
        else:
            undo = undo_offer_of_move(group, targets).address(page)
            return _back_to_calendar(page, _moved_message(page, group, targets, at), undo)
    if sent is not None and reason:
        raise PageRefusal(reason)
    others = len(targets_that_keep_their_times(group, targets))
    shown = {"group": group, "targets": targets, "schedule": schedule, "reason": reason, "others": others}
    return page.render("posts/move.html", status=200 if sent is None else 422, back=_calendar_address(page), **shown)


def _moment_of_address(page: WorkspacePage) -> datetime:
    moment = parse_iso_moment_with_zone_or_none(page.request.GET.get(ENTRY_TIME_PARAMETER, ""))
    if moment is None:
        raise NotFound()
    return moment


def _takes_slot(page: WorkspacePage, targets: Sequence[PostTarget], at: datetime | None) -> bool:
    """Return whether a calendar entry of one account was moved by dropping it on an empty slot of this account."""
    dropped_on = page.request.POST.get("slot_of", "")
    return (
        [each.account_id for each in targets] == [dropped_on]
        and at is not None
        and is_coming_slot_of_account(targets[0].account, at)
    )


def _moved_message(page: WorkspacePage, group: PostGroup, targets: Collection[PostTarget], at: datetime | None) -> str:
    named = {"time": format_date(at.astimezone(page.zone), "l, j F Y, H:i") if at else ""}
    words = _("Moved to %(time)s.") % named if at else _("Moved.")
    words = moved_message_with_approval_count(words, count_needing_approval_if_moved(page, [group]), 1)
    if not targets_that_keep_their_times(group, targets):
        return words
    only = ngettext(
        "The post has several times: only the %(count)d account of this entry moved.",
        "The post has several times: only the %(count)d accounts of this entry moved.",
        len(targets),
    )
    return " ".join([words, only % {"count": len(targets)}])


def _back_to_calendar(page: WorkspacePage, message: str, undo: str) -> HttpResponse:
    messages.success(page.request, message, extra_tags=undo)
    return page.redirect(_calendar_address(page))


def _calendar_address(page: WorkspacePage) -> str:
    query = page.request.GET.copy()
    query.pop(ENTRY_TIME_PARAMETER, None)
    return f"{page.url_of_page('calendar')}?{query.urlencode()}"
