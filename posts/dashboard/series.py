"""The dashboard pages of series: their list, one series, and the form that creates or changes one after a preview."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.api.errors import ApiError, PlanChanged, missing_or_foreign_id_error
from config.api.plan import accept_only_plan_with_hash
from config.pages.sentences import PageRefusal, error_sentences
from posts import selectors, series_selectors
from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.copied_content import request_fields_to_copy_post
from posts.dashboard.inputs import get_post_group_of_workspace, parse_iso_moment_with_zone_or_none, validated_page_input
from posts.dashboard.series_form import SeriesForm, initial_of_new_series, initial_of_series
from posts.dashboard.series_preview import monthly_prices, shown_next_posts_of_series
from posts.dashboard.series_rule import rule_in_words
from posts.models import Series
from posts.serializers.series import CreateSeriesSerializer, UpdateSeriesSerializer
from posts.series_posts import texts_of_series
from posts.series_selectors import get_series, upcoming_occurrences_by_series_id
from posts.services.series import (
    SeriesEdit,
    create_series,
    end_series,
    plan_and_commit_series,
    plan_create_series,
    skip_occurrence,
    update_series,
)
from posts.services.series_occurrences import cancel_or_edit_scheduled_posts
from workspaces.workspace_page import WorkspacePage, record_refused_write, run_once_per_submission, workspace_page

PER_PAGE = 50
EMPTY_POST: Mapping[str, Any] = {"text": "", "targets": [], "media": []}
CHANGED_MESSAGE = gettext_lazy("Something was changed since the preview, by you or by somebody else. Preview it again.")


class SeriesTarget(NamedTuple):
    """A target of the posts of a series: what AccountMarks needs for the account's picture and platform icon."""

    platform: str
    account_id: str


@workspace_page()
def list_series(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that lists the series of a workspace, newest first."""
    cursor = page.request.GET.get("cursor")
    found = series_selectors.list_series(caller=page.caller, workspace_id=page.workspace.id, limit=PER_PAGE, cursor=cursor)
    upcoming = upcoming_occurrences_by_series_id(found.rows)
    marks = AccountMarks(page)
    shown = [
        (
            each,
            rule_in_words(each.rrule, ZoneInfo(each.timezone)),
            upcoming[each.id][:1],
            _refused(upcoming[each.id]),
            marks.marks_of_post(_targets(each)),
        )
        for each in found.rows
    ]
    return page.render("posts/series_list.html", shown=shown, sprite=marks.sprite(), next_cursor=found.next_cursor)


@workspace_page()
def show_series(page: WorkspacePage, series_id: str) -> HttpResponse:
    """Dashboard page of one series: its rule and content, and its next posts with what keeps them from being scheduled."""
    series = _series_of_workspace(page, series_id)
    accounts = selectors.accounts_selectable_for_post(
        caller=page.caller, workspace_id=page.workspace.id, chosen=series.account_ids
    )
    return page.render(
        "posts/series.html",
        series=series,
        rule=rule_in_words(series.rrule, ZoneInfo(series.timezone)),
        texts=texts_of_series(series.post),
        accounts=[account for account in accounts if account.id in series.account_ids],
        next_posts=shown_next_posts_of_series(series),
        prices=monthly_prices(series) if series.status == Series.Status.ACTIVE else [],
        live=page.may_write_posts and series.status != Series.Status.ENDED,
    )


@workspace_page("GET", "POST", operation="series.create")
def preview_or_create_series(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that previews a new series and creates it; `post` in its address names a post to repeat."""
    if not page.may_write_posts:
        raise PageRefusal(_("Your role in this workspace does not allow this. Ask an owner or admin."))
    repeated = page.request.GET.get("post", "")
    group = get_post_group_of_workspace(page, repeated) if repeated else None
    post = {**EMPTY_POST, **(request_fields_to_copy_post(group) if group else {})}
    form = _form(page, initial_of_new_series(page.zone, post), [each["connected_account_id"] for each in post["targets"]])
    if page.request.method != "POST" or not form.is_valid():
        return _render_form(page, form, status=422 if form.is_bound else 200)
    try:
        body = {
            **({"name": form.cleaned_data["name"]} if form.cleaned_data["name"] else {}),
            "workspace_id": page.workspace.id,
            "post": _entered_post(page, form, post),
            "starts_at": form.starts_at,
            "timezone": form.zone.key,
            "rrule": form.rule_text,
        }
        fields = validated_page_input(CreateSeriesSerializer, body)
        if "preview" in page.request.POST:
            plan = plan_and_commit_series(
                lambda: plan_create_series(page.caller, fields, dry_run=True), dry_run=True, audited=False
            )
            return _render_form(page, form, planned=plan.series, plan_hash=plan.hash)
        plan_hash = page.request.POST.get("plan_hash", "")
        made = run_once_per_submission(
            page, "series.create", lambda: create_series(caller=page.caller, fields=fields, plan_hash=plan_hash).series
        )[0]
    except ApiError as error:
        return _render_form(page, form, problems=_problems(page, "series.create", error), status=422)
    return page.success_redirect(
        _("The series is created. Its first posts are being scheduled."), "series-one", series_id=made
    )


@workspace_page("GET", "POST", operation="series.update")
def preview_or_update_series(page: WorkspacePage, series_id: str) -> HttpResponse:
    """Dashboard page that previews changes to a series and saves them."""
    series = _series_of_workspace(page, series_id)
    if not page.may_write_posts:
        raise PageRefusal(_("Your role in this workspace does not allow changing series."))
    if series.status == Series.Status.ENDED:
        raise PageRefusal(_("This series has ended, so it can no longer be changed."))
    form = _form(page, initial_of_series(series), series.account_ids, series)
    if page.request.method != "POST" or not form.is_valid():
        return _render_form(page, form, series=series, status=422 if form.is_bound else 200)
    is_preview = "preview" in page.request.POST
    try:
        body = {"post": _entered_post(page, form, series.post), "rrule": form.rule_text}
        if form.cleaned_data["name"] != (series.name or ""):
            body["name"] = form.cleaned_data["name"]
        fields = validated_page_input(UpdateSeriesSerializer, body)
        edit = SeriesEdit(**fields, apply_to_scheduled=form.cleaned_data["apply_to_scheduled"])
        with accept_only_plan_with_hash(None if is_preview else page.request.POST.get("plan_hash", "")) as requested:
            changed = update_series(caller=page.caller, series_id=series.id, edit=edit, dry_run=is_preview)
        if is_preview:
            plan_hash = requested.plan.hash if requested.plan else ""
            return _render_form(page, form, series=series, planned=changed, plan_hash=plan_hash)
    except ApiError as error:
        return _render_form(page, form, series=series, problems=_problems(page, "series.update", error), status=422)
    cancel_or_edit_scheduled_posts(changed)
    return page.success_redirect(_("The series is changed."), "series-one", series_id=series.id)


@workspace_page("POST", operation="series.update")
def pause_or_resume_series(page: WorkspacePage, series_id: str) -> HttpResponse:
    """Dashboard action that pauses a series or resumes it."""
    series = _series_of_workspace(page, series_id)
    pauses = "pause" in page.request.POST
    status = Series.Status.PAUSED if pauses else Series.Status.ACTIVE
    update_series(caller=page.caller, series_id=series.id, edit=SeriesEdit(status=status.value))
    words = _("Paused. Posts that are scheduled already are still published.") if pauses else _("Resumed.")
    return page.success_redirect(words, "series-one", series_id=series.id)


@workspace_page("POST", operation="series.delete")
def end_series_and_cancel_posts(page: WorkspacePage, series_id: str) -> HttpResponse:
    """Dashboard action that ends a series and cancels its scheduled posts."""
    series = end_series(caller=page.caller, series_id=_series_of_workspace(page, series_id).id)
    cancel_or_edit_scheduled_posts(series)
    words = _("The series has ended, and its scheduled posts are cancelled.")
    return page.success_redirect(words, "series-one", series_id=series.id)


@workspace_page("POST", operation="series.skip")
def skip_post_of_series(page: WorkspacePage, series_id: str) -> HttpResponse:
    """Dashboard action that leaves out one post of a series."""
    series = _series_of_workspace(page, series_id)
    at = parse_iso_moment_with_zone_or_none(page.request.POST.get("at", ""))
    if at is None:
        raise PageRefusal(_("Choose a post of the series."))
    cancel_or_edit_scheduled_posts(skip_occurrence(caller=page.caller, series_id=series.id, at=at))
    return page.success_redirect(_("The post is left out."), "series-one", series_id=series.id)


def _series_of_workspace(page: WorkspacePage, series_id: str) -> Series:
    """Return the series whose id is in a page's URL. Raises NotFound for a series of another workspace."""
    series = get_series(caller=page.caller, series_id=series_id)
    if series.workspace_id != page.workspace.id:
        raise missing_or_foreign_id_error(None, "series")
    return series


def _form(page: WorkspacePage, initial: Mapping[str, Any], chosen: list[str], series: Series | None = None) -> SeriesForm:
    sent = page.request.POST if page.request.method == "POST" else None
    accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=page.workspace.id, chosen=chosen)
    return SeriesForm(sent, accounts=accounts, initial=initial, series=series)


def _entered_post(page: WorkspacePage, form: SeriesForm, base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the post that is entered in the form of a series; what the form does not show stays as in `base`."""
    first, *further = form.entered_thread_texts
    known = {target["connected_account_id"]: target for target in base["targets"]}
    chosen = form.cleaned_data["accounts"]
    accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=page.workspace.id, chosen=chosen)
    targets = []
    for account in accounts:
        if account.id in chosen:
            target = known.get(account.id, {})
            content = {name: target[name] for name in ("text", "options") if target.get(name)}
            targets.append({"platform": account.platform, "connected_account_id": account.id, **content})
    kept = {name: base[name] for name in ("media", "webhook_url", "metadata") if base.get(name)}
    return {"text": first, "targets": targets, **({"texts": further} if further else {}), **kept}


def _render_form(page: WorkspacePage, form: SeriesForm, *, status: int = 200, **shown: Any) -> HttpResponse:
    planned = shown.get("planned")
    if planned is not None:
        shown |= {"next_posts": shown_next_posts_of_series(planned), "prices": monthly_prices(planned)}
        shown |= {"rule": rule_in_words(planned.rrule, ZoneInfo(planned.timezone))}
        shown |= {"repeats_one_text": len(texts_of_series(planned.post)) == 1 and "{" not in planned.post["text"]}
    return page.render("posts/series_form.html", form=form, status=status, **shown)


def _problems(page: WorkspacePage, operation: str, error: ApiError) -> list[str]:
    record_refused_write(page, operation, error)
    return [str(CHANGED_MESSAGE)] if isinstance(error, PlanChanged) else error_sentences(error, operation)


def _targets(series: Series) -> list[SeriesTarget]:
    return [SeriesTarget(each["platform"], each["connected_account_id"]) for each in series.post["targets"]]


def _refused(upcoming: list[Any]) -> int:
    return sum(each.error is not None for each in upcoming)
