"""Converts rows of a file of posts to API requests and back: accounts by handle or id, local times, and media by id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from rest_framework.serializers import ValidationError

from accounts.models import ConnectedAccount
from config.api import fields
from config.db.ids import is_id
from posts.local_time import instants_at_local_time
from posts.models import PostGroup, PostTarget
from posts.post_files.formats import FileRow
from posts.post_group_json import format_timestamp
from posts.states import TargetStatus

Problems = dict[str, list[str]]  # sentences by column


class AccountNames:
    """A workspace's connected accounts by id and by handle, and the names by which files of posts refer to them."""

    def __init__(self, workspace_id: str) -> None:
        rows = ConnectedAccount.objects.filter(workspace_id=workspace_id).only("id", "platform", "handle", "status")
        self.by_id = {account.id: account for account in rows}
        self._by_handle: Mapping[str, list[ConnectedAccount]] = defaultdict(list)
        for account in self.by_id.values():
            self._by_handle[account.handle.lower()].append(account)

    def find(self, word: str) -> ConnectedAccount:
        """Return the account that a row of a file names, by id or handle. Raises LookupError with a sentence for people."""
        if found := self.by_id.get(word):
            return found
        handle = word.removeprefix("@").lower()
        named = self._by_handle.get(handle, []) if handle else []
        connected = [each for each in named if each.status != ConnectedAccount.Status.DISCONNECTED]
        if len(connected) > 1:
            raise LookupError(_("Several accounts are called %(name)s. Write the account's id instead.") % {"name": word})
        if not named:
            raise LookupError(_("There is no account %(name)s in this workspace.") % {"name": word[:100]})
        return (connected or named)[0]

    def handle_or_id(self, account_id: str) -> str:
        """Return how a file of posts names an account: by its handle, if no other account has the same, or else by its id."""
        handle = self.by_id[account_id].handle
        try:
            named = bool(handle.split() == [handle]) and self.find(handle).id == account_id
        except LookupError:
            named = False
        return handle if named else account_id


@dataclass
class RowContent:
    """The parsed content of a row of a file of posts, only for the columns that it has; `problems` are by column."""

    row: FileRow
    text: str | None = None
    scheduled_at: datetime | None = None
    account_ids: list[str] = field(default_factory=list)
    media_ids: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=dict)

    @property
    def group_id(self) -> str:
        """Return the id of the stored post that this row of a file describes; "" for a new post."""
        return self.row.cells.get("post_group_id", "").strip()

    def add_problem(self, column: str, sentence: str) -> None:
        known = self.problems.setdefault(column, [])
        if sentence not in known:
            known.append(sentence)


def parse_row(row: FileRow, names: AccountNames, zone: ZoneInfo) -> RowContent:
    """Parse a row of a file of posts to its RowContent; `zone` is the time zone of local times if the row names none."""
    content = RowContent(row, text=row.cells.get("text"))
    cells = {name: value.strip() for name, value in row.cells.items()}
    for word in cells.get("accounts", "").split():
        try:
            account_id = names.find(word).id
        except LookupError as error:
            content.add_problem("accounts", str(error))
            continue
        if account_id in content.account_ids:
            content.add_problem("accounts", _("The account %(name)s is named twice.") % {"name": word})
        content.account_ids.append(account_id)
    content.media_ids = cells.get("media", "").split()
    for word in content.media_ids:
        if not is_id(word, "med"):
            content.add_problem("media", _("%(id)s is no id of a file in the media library.") % {"id": word[:100]})
    if name := cells.get("timezone"):
        try:
            zone = ZoneInfo(fields.Timezone().run_validation(name))
        except ValidationError:
            content.add_problem("timezone", _("%(name)s is not a time zone such as Europe/Berlin.") % {"name": name[:100]})
            return content
    if moment := cells.get("scheduled_at"):
        try:
            content.scheduled_at = _instant(moment, zone)
        except ValueError as error:
            content.add_problem("scheduled_at", str(error))
    return content


def _instant(cell: str, zone: ZoneInfo) -> datetime:
    """Parse the time in a cell of a file of posts: a local time in `zone`, or a time with an offset. Raises ValueError."""
    try:
        if len(cell) < len("2027-01-31T09:00"):
            raise ValueError
        named = datetime.fromisoformat(cell)
        found = [named] if named.tzinfo else instants_at_local_time(named, zone)
    except (ValueError, OverflowError):
        raise ValueError(_("Write the time as 2027-01-31T09:00.")) from None
    if not found:
        raise ValueError(_("The clocks skip this time on that day."))
    return found[0]


def local_time_cell(moment: datetime | None, zone: ZoneInfo) -> str:
    """Format a time for a cell of a post file: as local time, with its UTC offset only if clocks show that time twice."""
    if moment is None:
        return ""
    at = moment.astimezone(zone)
    local = at.replace(tzinfo=None, fold=0)
    shown = at if instants_at_local_time(local, zone)[0] != moment else local
    return shown.isoformat(timespec="minutes" if not (at.second or at.microsecond) else "auto")


def uncancelled_targets(group: PostGroup) -> list[PostTarget]:
    """Return those targets of a stored post that the row of a file shows: all but the cancelled ones."""
    return [target for target in group.targets.all() if target.status != TargetStatus.CANCELLED]


def cells_of_group(group: PostGroup, names: AccountNames, zone: ZoneInfo) -> dict[str, str]:
    """Return the cells of the row of a file that describes a stored post."""
    return {
        "post_group_id": group.id,
        "status": str(group.status),
        "scheduled_at": local_time_cell(group.scheduled_at, zone),
        "timezone": zone.key,
        "accounts": " ".join(names.handle_or_id(target.account_id) for target in uncancelled_targets(group)),
        "text": group.text,
        "media": " ".join(entry["media_id"] for entry in group.media),
    }


def update_request_of_row(content: RowContent, group: PostGroup, names: AccountNames) -> dict[str, Any]:
    """Return the body of the PATCH request that makes a stored post what a row of a file says; empty if it is so already.

    Columns that the row does not have do not change. Accounts that stay keep their own texts, options and times, and media
    that stay keep their alt texts, because a file does not contain these.
    """
    has, request = content.row.cells.keys(), dict[str, Any]()
    if "text" in has and (content.text or "").replace("\r\n", "\n") != group.text.replace("\r\n", "\n"):
        request["text"] = content.text
    if "scheduled_at" in has and content.scheduled_at != group.scheduled_at:
        request["scheduled_at"] = format_timestamp(content.scheduled_at)
    targets = {target.account_id: target for target in uncancelled_targets(group)}
    if "accounts" in has and set(content.account_ids) != set(targets):
        request["targets"] = [
            _target_request(group, names.by_id[account_id], targets.get(account_id)) for account_id in content.account_ids
        ]
    stored = {entry["media_id"]: entry for entry in group.media}
    if "media" in has and content.media_ids != list(stored):
        request["media"] = [stored.get(media_id, {"media_id": media_id}) for media_id in content.media_ids]
    return request


def _target_request(group: PostGroup, account: ConnectedAccount, stored: PostTarget | None) -> dict[str, Any]:
    request: dict[str, Any] = {"platform": account.platform, "connected_account_id": account.id}
    if stored is None:
        return request
    request |= {"text": stored.text, "options": stored.options}
    if stored.slot:
        request["slot"] = "next"
    elif stored.scheduled_at and stored.scheduled_at != group.scheduled_at:
        request["scheduled_at"] = format_timestamp(stored.scheduled_at)
    return request


def new_post_request_and_row_problems(content: RowContent, names: AccountNames) -> dict[str, Any]:
    """Return the new post that a row of a file describes, as POST /posts/batch takes it. Adds problems to the row."""
    draft = content.row.cells.get("status", "").strip().lower() == "draft"
    if not content.account_ids and "accounts" not in content.problems:
        content.add_problem("accounts", "Name at least one account.")
    if content.scheduled_at is None and not draft and not content.problems.keys() & {"scheduled_at", "timezone"}:
        content.add_problem("scheduled_at", "Give the post a time, or write “draft” in the column status.")
    request: dict[str, Any] = {
        "text": content.text or "",
        "targets": [_target_request(PostGroup(), names.by_id[each], None) for each in content.account_ids],
    }
    if content.media_ids:
        request["media"] = [{"media_id": media_id} for media_id in content.media_ids]
    if content.scheduled_at:
        request["scheduled_at"] = format_timestamp(content.scheduled_at)
    return request | ({"draft": True} if draft else {})


def column_of_field(path: str, columns: Collection[str]) -> str:
    """Return the column of a file's row that holds the field of a request, such as accounts for `targets[0].text`."""
    first = path.partition(".")[0].partition("[")[0]
    last = path.rpartition(".")[2].partition("[")[0]
    column = next((name for name in (last, first) if name in ("text", "scheduled_at", "media")), "accounts")
    return column if column in columns else "text"
