"""The dashboard pages of an account's queue: its posts, and changes with a preview that is confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.dashboard.accounts import workspace_account_or_404
from accounts.models import ConnectedAccount
from accounts.platforms.registry import platform_label
from config.api.errors import NotFound
from config.pages.sentences import PageRefusal
from posts import selectors, services
from posts.dashboard.approval_words import count_needing_approval_if_moved, moved_message_with_approval_count
from posts.dashboard.forms import ALLOWED_YEARS
from posts.dashboard.undo_offers import UndoOffer
from posts.errors import PlanChanged
from posts.local_time import start_of_local_day
from posts.models import StoredPlan
from posts.post_group_json import format_timestamp
from posts.serializers.queue import MAX_DAYS
from posts.services.queue import MAX_MOVED_POSTS, OPERATION, next_queued_targets
from posts.stored_plan_requests import commit_plan_by_id, make_and_store_plan_for_dashboard
from workspaces.workspace_page import WorkspacePage, workspace_page

PAGE = "account-queue"
TITLES = {
    "shuffle": gettext_lazy("Shuffle the queue"),
    "move": gettext_lazy("Move all posts"),
    "skip_week": gettext_lazy("Skip a week"),
}
MAX_AMOUNTS = {"days": MAX_DAYS, "hours": MAX_DAYS * 24, "minutes": MAX_DAYS * 24 * 60}


class QueueForm(forms.Form):
    """The dashboard form for a change of an account's queue; fields that the chosen action does not need are left empty."""

    action = forms.ChoiceField(choices=list(TITLES.items()))
    first = forms.DateField(required=False)
    last = forms.DateField(required=False)
    week = forms.DateField(required=False)
    days, hours, minutes = (
        forms.IntegerField(required=False, min_value=-most, max_value=most) for most in MAX_AMOUNTS.values()
    )

    def clean(self) -> None:
        given = [self.cleaned_data.get(name) for name in ("first", "last", "week")]
        if any(day and day.year not in ALLOWED_YEARS for day in given):
            raise forms.ValidationError(_("Choose other days."))

    def to_request_body(self, page: WorkspacePage, account: ConnectedAccount) -> dict[str, Any]:
        """Return what this QueueForm says as the body of POST /posts/queue. Raises PageRefusal if the form is not valid."""
        if not self.is_valid():
            raise PageRefusal(_("Enter days such as 2027-01-31, and whole numbers."))
        given = self.cleaned_data
        if given["action"] == "move" and not any(given[name] for name in MAX_AMOUNTS):
            raise PageRefusal(_("Say by how many days, hours or minutes to move the posts."))
        request: dict[str, Any] = {"connected_account_id": account.id, "action": given["action"]}
        if given["action"] == "move":
            request |= {name: given[name] for name in MAX_AMOUNTS if given[name]}
        if given["action"] == "skip_week" and given["week"]:
            request["week"] = given["week"].isoformat()
        days = {"after": given["first"], "before": given["last"] and _day_after(given["last"])}
        return request | {name: _begin(day, page) for name, day in days.items() if day}


@workspace_page("GET", "POST", operation=OPERATION)
def show_queue_or_preview_change(page: WorkspacePage, account_id: str) -> HttpResponse:
    """Dashboard page of an account's queue, the posts scheduled to it; a change that is sent is planned and previewed."""
    account = workspace_account_or_404(page, account_id)
    if page.request.method != "POST":
        queued = next_queued_targets(account)
        return page.render("posts/queue.html", account=account, name=_name(account), queued=queued, most=MAX_MOVED_POSTS)
    request = QueueForm(page.request.POST).to_request_body(page, account)
    services.delete_open_plans_of_dashboard_page(caller=page.caller, workspace_id=page.workspace.id, dashboard_page=PAGE)
    plan = make_and_store_plan_for_dashboard(
        caller=page.caller, workspace_id=page.workspace.id, operation=OPERATION, request=request, dashboard_page=PAGE
    )
    return _show(page, account, plan)


@workspace_page("POST", operation=OPERATION)
def commit_queue_change(page: WorkspacePage, account_id: str, plan_id: str) -> HttpResponse:
    """Dashboard page that commits a previewed change of a queue; if the queue has changed since, it shows the new preview."""
    account = workspace_account_or_404(page, account_id)
    plan = services.get_stored_plan(caller=page.caller, plan_id=plan_id)
    if plan.workspace_id != page.workspace.id or plan.request.get("connected_account_id") != account.id:
        raise NotFound()
    try:
        committed = commit_plan_by_id(caller=page.caller, plan_id=plan_id)
    except PlanChanged as error:
        if error.changed_plan is None:
            raise
        messages.warning(page.request, _("The queue has changed meanwhile. Nothing was done. This is what would happen now."))
        return _show(page, account, error.changed_plan, status=409)
    if committed.plan is None:
        words = _("This was done before. Nothing was done again.")
        return page.success_redirect(words, "account-queue", account_id=account.id)
    groups = [change.after for change in committed.plan.changes]
    moved = ngettext("%(count)d post moved.", "%(count)d posts moved.", len(groups)) % {"count": len(groups)}
    message = moved_message_with_approval_count(moved, count_needing_approval_if_moved(page, groups), len(groups))
    undo = UndoOffer("queue", plan_id).address(page)
    return page.success_redirect(message, "account-queue", undo=undo, account_id=account.id)


def _show(page: WorkspacePage, account: ConnectedAccount, plan: StoredPlan, *, status: int = 200) -> HttpResponse:
    moves: list[Mapping[str, Any]] = plan.preview["would_update"]["moves"]
    groups = selectors.groups_prefetching_targets().in_bulk([each["post_group_id"] for each in moves])
    return page.render(
        "posts/queue_preview.html",
        status=status,
        account=account,
        name=_name(account),
        title=TITLES[plan.request["action"]],
        plan=plan,
        moves=[
            {
                "group": groups[each["post_group_id"]],
                "before": parse_datetime(each["scheduled_at_before"]),
                "after": parse_datetime(each["scheduled_at"]),
                "slot": each["slot"],
            }
            for each in moves
        ],
        waiting=count_needing_approval_if_moved(page, groups.values()),
        leaving=sum(each["slot_before"] for each in moves) - sum(each["slot"] for each in moves),
    )


def _name(account: ConnectedAccount) -> str:
    return f"{platform_label(account.platform)} {account.handle or account.external_id}"


def _day_after(day: date) -> date:
    return day + timedelta(days=1)


def _begin(day: date, page: WorkspacePage) -> str | None:
    at: datetime = start_of_local_day(day, page.zone)
    return format_timestamp(at)
