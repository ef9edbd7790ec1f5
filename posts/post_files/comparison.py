"""The difference between a file of posts and the posts of a workspace: each row with its state and its problems."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from rest_framework.serializers import ValidationError

from accounts.dashboard.issue_sentences import issue_sentence
from accounts.platforms.registry import platform_label
from config.api.caller import Caller, require_access
from config.api.errors import ApiError
from config.api.serializers import shared_serializer_instance
from config.db.ids import is_id
from config.pages.sentences import error_sentences, sentence_about_invalid_field
from posts import selectors, services
from posts.content import PostEdit, PostInput, media_inputs_of_group, target_inputs_of_group
from posts.errors import ContentInvalid
from posts.models import ImportedRow, PostGroup
from posts.plan_building import WRITE_SCOPES, RowsForPlans, new_group_change
from posts.post_files.formats import parse_file_rows
from posts.post_files.rows import (
    AccountNames,
    RowContent,
    cells_of_group,
    column_of_field,
    new_post_request_and_row_problems,
    parse_row,
    update_request_of_row,
)
from posts.serializers.requests import BatchedPostSerializer, UpdatePostSerializer
from posts.services.update import plan_update
from workspaces.models import Workspace

MAX_NEW, MAX_CHANGED = 100, 100  # posts of a file that are made and changed at a time
ROW_ID_COLUMN = "post_group_id"  # the column of problems that concern the whole row


@dataclass
class ComparedRow:
    """A row of a file of posts with its state: `new`, `changed`, `unchanged`, or `imported` by an earlier import.

    `group` is the stored post, `before` are its cells that change. `request` is the post of a batch, or the body of PATCH.
    `cost_cents` is the price of a new post, or the difference that a change makes.
    """

    content: RowContent
    state: str
    group: PostGroup | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)
    cost_cents: int = 0

    @property
    def number(self) -> int:
        return self.content.row.number


@dataclass(frozen=True)
class Comparison:
    """What a file of posts would create and change: its rows, and problems of the whole file as sentences for people."""

    file_sha256: str
    rows: Sequence[ComparedRow]
    problems: list[str]

    @property
    def has_problems(self) -> bool:
        return bool(self.problems) or any(row.content.problems for row in self.rows)

    def rows_in_state(self, state: str) -> list[ComparedRow]:
        return [row for row in self.rows if row.state == state]


def imported_row_key(workspace_id: str, file_sha256: str, number: int) -> str:
    """Return the key of the ImportedRow for a row of a compared file, by which a second import is recognized."""
    return hashlib.sha256(f"{workspace_id} {file_sha256} {number}".encode()).hexdigest()


def compare_file(caller: Caller, workspace: Workspace, content: bytes, filename: str) -> Comparison:
    """Compare a file of posts with the workspace's posts, and check what it would make and change. Writes nothing.

    Raises UnreadableFile, NotFound, Forbidden, WorkspacePaused, PayloadTooLarge (the checks take too much time).
    """
    require_access(caller, workspace.id, WRITE_SCOPES)
    names, zone = AccountNames(workspace.id), ZoneInfo(workspace.default_timezone)
    contents = [parse_row(row, names, zone) for row in parse_file_rows(content, filename)]
    digest = hashlib.sha256(content).hexdigest()
    rows = _compared(workspace, contents, names, zone, digest)
    comparison = Comparison(digest, rows, [])
    too_many = {
        "new": (MAX_NEW, _("%(count)d posts would be created; at most %(most)d are at a time. Split the file.")),
        "changed": (MAX_CHANGED, _("%(count)d posts would be changed; at most %(most)d are at a time. Split the file.")),
    }
    for state, (most, words) in too_many.items():
        if (count := len(comparison.rows_in_state(state))) > most:
            comparison.problems.append(words % {"count": count, "most": most})
    if not comparison.problems:
        _check_new_posts(caller, workspace.id, comparison.rows_in_state("new"))
        for row in comparison.rows_in_state("changed"):
            _check_change(caller, row)
    return comparison


def _compared(
    workspace: Workspace, contents: Sequence[RowContent], names: AccountNames, zone: ZoneInfo, digest: str
) -> list[ComparedRow]:
    times_named = Counter(content.group_id for content in contents)
    known = selectors.groups_prefetching_targets().filter(workspace_id=workspace.id)
    groups = known.in_bulk([group_id for group_id in times_named if is_id(group_id, "pgr")])
    keys = {
        imported_row_key(workspace.id, digest, content.row.number): content for content in contents if not content.group_id
    }
    imported = ImportedRow.objects.filter(group__workspace_id=workspace.id).select_related("group").in_bulk(list(keys))
    by_number = {keys[key].row.number: found.group for key, found in imported.items()}
    rows = []
    for content in contents:
        group = groups.get(content.group_id)
        if content.row.number in by_number:
            rows.append(ComparedRow(replace(content, problems={}), "imported", by_number[content.row.number]))
        elif not content.group_id:
            rows.append(ComparedRow(content, "new", request=new_post_request_and_row_problems(content, names)))
        elif group is None:
            content.add_problem(
                ROW_ID_COLUMN, _("This workspace has no post with this id. Remove the id to make a new post.")
            )
            rows.append(ComparedRow(content, "unchanged"))
        else:
            if times_named[content.group_id] > 1:
                content.add_problem(ROW_ID_COLUMN, _("Two rows describe this post."))
            rows.append(_compared_with_group(content, group, names, zone))
    return rows


def _compared_with_group(content: RowContent, group: PostGroup, names: AccountNames, zone: ZoneInfo) -> ComparedRow:
    request = update_request_of_row(content, group, names) if not content.problems else {}
    if not request:
        return ComparedRow(content, "unchanged", group)
    stored = cells_of_group(group, names, zone)
    columns = {"targets": "accounts"}
    before = {columns.get(name, name): stored[columns.get(name, name)] for name in request}
    return ComparedRow(content, "changed", group, before, request)


def _check_new_posts(caller: Caller, workspace_id: str, rows: Sequence[ComparedRow]) -> None:
    """Check the new posts of a file as POST /posts/batch would, and add their problems to the file's rows."""
    posts = {}
    for row in rows:
        if not row.content.problems and (fields := _validated(BatchedPostSerializer, row)):
            posts[row.number] = PostInput.from_request({**fields, "workspace_id": workspace_id})
    read = RowsForPlans.read(workspace_id, list(posts.values()))
    for row in rows:
        if post := posts.get(row.number):
            try:
                new_group_change(caller, post, dry_run=True, rows=read)
            except ApiError as error:
                _add_error(caller, row, post, error)


def _check_change(caller: Caller, row: ComparedRow) -> None:
    """Check a file's row that changes a stored post as PATCH /posts/{id} would, and add the problems to the row."""
    fields = _validated(UpdatePostSerializer, row)
    if not fields or row.group is None:
        return
    edit = PostEdit.from_request(fields)
    try:
        plan_update(caller, row.group.id, edit, dry_run=True)
    except ApiError as error:
        group = row.group
        post = PostInput(
            text=group.text if edit.text is None else edit.text,
            targets=edit.targets or target_inputs_of_group(group),
            media=media_inputs_of_group(group) if edit.media is None else edit.media,
            workspace_id=group.workspace_id,
        )
        _add_error(caller, row, post, error)


def _validated(serializer: type[Any], row: ComparedRow) -> dict[str, Any]:
    """Validate the API request made from a row of a file of posts; if invalid, add problems to the row and return {}."""
    try:
        return dict(shared_serializer_instance(serializer).run_validation(row.request))
    except ValidationError as error:
        for name, problems in cast(dict[str, Any], error.detail).items():
            first = problems[0] if isinstance(problems, list) else ""
            sentence = str(first) if first and isinstance(first, str) else _("This is not valid.")
            row.content.add_problem(column_of_field(name, row.content.row.cells), sentence)
        return {}


def _add_error(caller: Caller, row: ComparedRow, post: PostInput, error: ApiError) -> None:
    """Add an API error about the post of a file's row to the problems of those cells of the row that caused the error."""
    content, columns = row.content, row.content.row.cells
    if isinstance(error, ContentInvalid):
        found = services.validate_post(caller=caller, post=replace(post, scheduled_at=None), group=row.group)
        for target in found.targets:
            label = platform_label(target.target.account.platform)
            for issue in (each for each in target.issues if each.severity == "error"):
                content.add_problem(column_of_field(issue.field, columns), issue_sentence(issue, label))
        for issue in (each for each in found.issues if each.severity == "error"):
            content.add_problem(column_of_field(issue.field, columns), issue.message)
    elif error.details:
        for each in error.details:
            content.add_problem(column_of_field(each["field"], columns), sentence_about_invalid_field(each))
    if not content.problems:
        content.add_problem(ROW_ID_COLUMN, " ".join(error_sentences(error, "posts.update" if row.group else "posts.create")))
