"""The dashboard page of actions on several posts of the list: it shows what would happen to each, and does it once confirmed.

Everything is done as on the pages of the single posts, and can be undone like that, together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.api.errors import ApiError, NotFound
from config.pages.sentences import PageRefusal, error_sentences
from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.approval_words import moved_message_with_approval_count
from posts.dashboard.chosen_actions import ACTIONS, SHOWN_CHARACTERS, ActionOnChosenPosts, TimeShift, prepare_action
from posts.dashboard.forms import ScheduleForm
from posts.dashboard.inputs import get_post_group_of_workspace
from posts.dashboard.undo_of_several import store_undo_of_several_and_return_url
from posts.dashboard.undo_offers import UndoOffer
from posts.models import PostGroup
from posts.services.commit import plan_and_commit
from workspaces.workspace_page import WorkspacePage, record_refused_write, workspace_page

MAX_CHOSEN = 100
MAX_BACK_ADDRESS_CHARACTERS = 2000


class MoveForm(ScheduleForm):
    """The form in which a person enters where the chosen posts move: to one time, or by a number of days and hours."""

    days = forms.IntegerField(label=gettext_lazy("Or by days"), required=False, min_value=-366, max_value=366)
    hours = forms.IntegerField(label=gettext_lazy("and hours"), required=False, min_value=-48, max_value=48)

    def clean(self) -> None:
        by = self.cleaned_data.get("days") or self.cleaned_data.get("hours")
        if not self.errors and bool(by) == bool(self.cleaned_data.get("when")):
            raise forms.ValidationError(_("Enter either a day and time, or the days and hours by which the posts move."))

    @property
    def time_shift(self) -> TimeShift:
        """Return the TimeShift of the chosen posts, from the valid input of the form."""
        return TimeShift(self.chosen_time_or_none, self.cleaned_data.get("days") or 0, self.cleaned_data.get("hours") or 0)

    @property
    def entered_values(self) -> str:
        """Return the values entered for moving chosen posts, to detect that the form was changed since the preview."""
        return " ".join(str(self[name].value() or "-") for name in ("when", "which", "days", "hours") if name in self.fields)


@dataclass(frozen=True)
class ChosenPostPreview:
    """A post on the page of an action on chosen posts: what would happen to it, or why the action is impossible."""

    group: PostGroup
    words: str
    cost_cents: int
    reason: str


@workspace_page("GET", "POST", operation="posts.update")
def preview_or_do_chosen_action(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that does an action on up to 100 chosen posts of the list, after a preview of its effect on each.

    Each post is named with the version of its content once it was shown. The preview shows the text and the number of files;
    a post with more than that is approved only where all of it is shown, so that nobody approves what they have not seen.
    """
    if page.request.method != "POST":
        return page.redirect(page.url_of_page("posts"))
    sent = page.request.POST
    action = ACTIONS.get(sent.get("action", ""))
    chosen = [_parsed(each) for each in dict.fromkeys(sent.getlist("post"))]
    if action is None:
        raise NotFound()
    if not 0 < len(chosen) + len(sent.getlist("again")) <= MAX_CHOSEN:
        raise PageRefusal(
            _("Choose up to %(most)d posts.") % {"most": MAX_CHOSEN} if chosen else _("Choose some posts first.")
        )
    form, move = None, TimeShift()
    if action is ACTIONS["move"]:
        form = MoveForm(sent if "when" in sent else None, zone=page.zone)
        if not form.is_valid():
            return _show(page, chosen, action, form, None)
        move = form.time_shift
    if "confirm" in sent and (form is None or sent.get("shown") == form.entered_values):
        return _do(page, chosen, action, move)
    again = [_parsed(each) for each in sent.getlist("again")]  # what could not be moved to another time
    return _show(page, [*chosen, *again], action, form, move)


def _parsed(written: str) -> tuple[str, int | None]:
    group_id, _space, version = written.partition(" ")
    return group_id, int(version) if version.isdecimal() and len(version) < 10 else None


def _show(
    page: WorkspacePage,
    chosen: list[tuple[str, int | None]],
    action: ActionOnChosenPosts,
    form: MoveForm | None,
    move: TimeShift | None,
) -> HttpResponse:
    """Show the effect of the chosen action on each chosen post; without a `move`, only the form that asks for new times."""
    posts = [
        _preview(page, get_post_group_of_workspace(page, group_id), action, move, version) for group_id, version in chosen
    ]
    marks = AccountMarks(page, (target for each in posts for target in each.group.targets.all()))
    possible, impossible = ([each for each in posts if bool(each.reason) is refused] for refused in (False, True))
    return page.render(
        "posts/chosen.html",
        action=action,
        name=page.request.POST["action"],
        form=form,
        shown=form.entered_values if form and move else "",
        possible=[(each, marks.marks_of_post(each.group.targets.all())) for each in possible],
        possible_words=_counted(action.possible, len(possible)),
        impossible=impossible,
        impossible_words=_counted(action.impossible, len(impossible)),
        cost_cents=sum(each.cost_cents for each in possible),
        shown_characters=SHOWN_CHARACTERS,
        sprite=marks.sprite(),
        back=_back(page),
        status=422 if form and form.errors else 200,
    )


def _preview(
    page: WorkspacePage, group: PostGroup, action: ActionOnChosenPosts, move: TimeShift | None, version: int | None
) -> ChosenPostPreview:
    try:
        if move is None:
            return ChosenPostPreview(group, "", 0, "")
        prepared = prepare_action(page, action, group, move, version)
        return ChosenPostPreview(group, prepared.words, prepared.plan().group.cost_cents, "")
    except ApiError as error:
        return ChosenPostPreview(group, "", 0, " ".join(error_sentences(error, action.operation)))


def _do(
    page: WorkspacePage, chosen: list[tuple[str, int | None]], action: ActionOnChosenPosts, move: TimeShift
) -> HttpResponse:
    """Do the action with each of the chosen posts, and lead back to the list, which offers to undo it."""
    done, waiting, offers, refusals = 0, 0, list[UndoOffer](), dict[str, int]()
    for group_id, version in chosen:
        try:
            prepared = prepare_action(page, action, get_post_group_of_workspace(page, group_id), move, version)
            plan_and_commit(prepared.plan)
        except ApiError as error:
            record_refused_write(page, action.operation, error)
            sentence = " ".join(error_sentences(error, action.operation))
            refusals[sentence] = refusals.get(sentence, 0) + 1
        else:
            done += 1
            waiting += prepared.waits
            if offer := prepared.undo():
                offers.append(offer)
    for sentence, count in refusals.items():
        messages.error(page.request, " ".join([_counted(action.not_done, count), sentence]))
    if done:
        words = moved_message_with_approval_count(_counted(action.done, done), waiting, done)
        if len(offers) < done:
            limit = _("For some of them, this cannot be undone.") if offers else _("This cannot be undone.")
            words = " ".join([words, limit])
        messages.success(page.request, words, extra_tags=store_undo_of_several_and_return_url(page, offers) if offers else "")
    return page.redirect(f"{page.url_of_page('posts')}?{_back(page)}")


def _counted(words: Any, count: int) -> str:
    """Return a sentence about an action on chosen posts, with the number of posts filled in."""
    return str(words % {"count": count})


def _back(page: WorkspacePage) -> str:
    """Return the query string of the list of posts, to which the page of an action on chosen posts leads back."""
    return page.request.POST.get("back", "")[:MAX_BACK_ADDRESS_CHARACTERS]


def context_for_choosing_posts(page: WorkspacePage) -> dict[str, Any]:
    """Return the template context for choosing posts in the list of posts: whether all are checked, and the list's query."""
    query = page.request.GET.copy()
    every = query.pop("all", None) is not None
    return {"all_chosen": every, "back": query.urlencode()}
