"""The dashboard page of files of posts: import a file or compare it, apply the difference, and export some days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from config.api.errors import ApiError
from config.api.uploads import uploaded_files_in_field
from config.pages.sentences import error_sentences
from posts.dashboard.listing import account_platform_and_agent_choices
from posts.post_files.apply import commit_file_plans, read_signed_plans, store_file_plans
from posts.post_files.comparison import MAX_CHANGED, MAX_NEW, ComparedRow, Comparison, compare_file
from posts.post_files.export import rows_of_days
from posts.post_files.formats import (
    COLUMNS,
    FORMATS,
    MAX_FILE_BYTES,
    MAX_ROWS,
    UnreadableFile,
    rows_as_file_text,
    too_large_sentence,
)
from workspaces.workspace_page import WorkspacePage, record_refused_write, workspace_page

MAX_DAYS = 366
CONTENT_TYPES = {"csv": "text/csv", "json": "application/json", "yaml": "application/yaml"}
# The columns of the table in the order of the page; the id of the post is shown as the row's link.
TABLE_COLUMNS = {
    "scheduled_at": gettext_lazy("Time"),
    "timezone": gettext_lazy("Time zone"),
    "accounts": gettext_lazy("Accounts"),
    "text": gettext_lazy("Text"),
    "media": gettext_lazy("Media"),
}


@dataclass(frozen=True)
class TableCell:
    """A cell of the table that compares a file with posts: the file's value, the post's if it differs, and problems."""

    column: str
    label: str
    value: str
    changed: bool
    before: str
    problems: list[str]

    @property
    def has_content(self) -> bool:
        """Return whether this TableCell on the page of post files contains anything."""
        return bool(self.value or self.changed or self.problems)


class ExportForm(forms.Form):
    """The dashboard form for an export of posts to a file: the days, the account and the format."""

    first = forms.DateField(label=gettext_lazy("From"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))
    last = forms.DateField(label=gettext_lazy("To"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))
    account = forms.CharField(required=False)
    format = forms.ChoiceField(label=gettext_lazy("Format"), choices=[(name, name.upper()) for name in FORMATS])

    def clean(self) -> None:
        first, last = self.cleaned_data.get("first"), self.cleaned_data.get("last")
        if first and last and not timedelta() <= last - first < timedelta(days=MAX_DAYS):
            raise forms.ValidationError(_("Choose up to %(most)d days, the first of them first.") % {"most": MAX_DAYS})
        if first and last and not 1 < first.year <= last.year < 9999:
            raise forms.ValidationError(_("Choose other days."))


@workspace_page("GET", "POST", operation="plans.create", files=True)
def export_or_compare_file(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: choose a file or days to export; a file that is sent is compared with the workspace's posts."""
    if page.request.method != "POST":
        return _show(page)
    files = uploaded_files_in_field(page.request, "file")
    if not files:
        return _show(page, problem=_("Choose a file first."), status=422)
    if files[0].size_bytes > MAX_FILE_BYTES:
        return _show(page, problem=too_large_sentence(), status=422)
    try:
        comparison = compare_file(page.caller, page.workspace, files[0].path.read_bytes(), files[0].filename)
    except UnreadableFile as error:
        return _show(page, problem=str(error), status=422)
    return _show_difference(page, comparison, files[0].filename)


def _show_difference(page: WorkspacePage, comparison: Comparison, filename: str) -> HttpResponse:
    """Show what a file of posts would make and change, with its problems, or else with its price and a button to apply it."""
    plans, problems = "", list(comparison.problems)
    if not comparison.has_problems and (comparison.rows_in_state("new") or comparison.rows_in_state("changed")):
        try:
            plans = store_file_plans(page.caller, page.workspace.id, comparison).to_signed_text()
        except ApiError as error:
            record_refused_write(page, "plans.create", error)
            problems += error_sentences(error)
    cost_cents = sum(row.cost_cents for row in comparison.rows)
    shown = [row for row in comparison.rows if row.state != "unchanged" or row.content.problems]
    return page.render(
        "posts/file_difference.html",
        filename=filename,
        plans=plans,
        problems=problems,
        has_problems=comparison.has_problems or bool(problems),
        rows=[(row, [_table_cell(row, column) for column in TABLE_COLUMNS]) for row in shown],
        labels=TABLE_COLUMNS.values(),
        new=comparison.rows_in_state("new"),
        changed=comparison.rows_in_state("changed"),
        unchanged=len(comparison.rows) - len(shown),
        imported=comparison.rows_in_state("imported"),
        cost_cents=cost_cents,
        cost_less=-cost_cents,
        status=422 if comparison.has_problems or problems else 200,
    )


def _table_cell(row: ComparedRow, column: str) -> TableCell:
    value, before = row.content.row.cells.get(column, ""), row.before.get(column, "")
    return TableCell(
        column, str(TABLE_COLUMNS[column]), value, column in row.before, before, row.content.problems.get(column, [])
    )


@workspace_page("POST", operation="plans.commit")
def apply_file(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: apply a file of posts that was compared, by committing its plans."""
    applied = commit_file_plans(page.caller, read_signed_plans(page.request.POST.get("plans", ""), page.workspace.id))
    for number, error in applied.refusals:
        record_refused_write(page, "plans.commit", error)
        sentences = error_sentences(error, "posts.update")
        messages.error(page.request, " ".join([_("Row %(number)d was not changed.") % {"number": number}, *sentences]))
    if not (applied.created or applied.changed or applied.refusals):
        return page.success_redirect(_("This file was applied before. Nothing was made or changed again."), "post-files")
    words = ngettext(
        "%(count)d post created, %(changed)d changed.", "%(count)d posts created, %(changed)d changed.", applied.created
    )
    return page.success_redirect(words % {"count": applied.created, "changed": applied.changed}, "post-files")


@workspace_page()
def export_posts(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: export the posts of some days, as a file that the browser downloads."""
    form = ExportForm(page.request.GET)
    if not form.is_valid():
        return _show(page, form=form, status=422)
    chosen = form.cleaned_data
    rows = rows_of_days(
        caller=page.caller,
        workspace=page.workspace,
        first=chosen["first"],
        last=chosen["last"],
        account_id=chosen["account"] or None,
    )
    name = f"posts-{chosen['first']}-{chosen['last']}.{chosen['format']}"
    return HttpResponse(
        rows_as_file_text(rows, chosen["format"]),
        content_type=f"{CONTENT_TYPES[chosen['format']]}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _show(page: WorkspacePage, *, problem: str = "", form: ExportForm | None = None, status: int = 200) -> HttpResponse:
    first = timezone.localdate(timezone=page.zone).replace(day=1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return page.render(
        "posts/files.html",
        problem=problem,
        form=form or ExportForm(initial={"first": first, "last": last, "format": "csv"}),
        formats=FORMATS,
        columns=COLUMNS,
        most_rows=MAX_ROWS,
        most_new=MAX_NEW,
        most_changed=MAX_CHANGED,
        accounts=account_platform_and_agent_choices(page)["accounts"],
        status=status,
    )
