"""The entries of the calendar: a post at one of the times of its targets, with marks, a thumbnail and whether it can move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from django.utils import timezone

from accounts.platforms.registry import platform_label
from media.links import signed_preview_url
from posts.attached_media import attached_media_ids, workspace_assets_by_id
from posts.models import PostGroup, PostTarget
from posts.services.changes import is_changeable
from posts.states import UNFINISHED_GROUP_STATUSES, GroupStatus, TargetStatus
from workspaces.workspace_page import WorkspacePage

MAX_MARKS = 6
BEGUN_REASON = "It is being published or was published, so its time can no longer be changed."
READ_ONLY_REASON = "Only owners and admins can move posts."


@dataclass(frozen=True)
class CalendarEntry:
    """A post at one of the times of its targets, as the calendar shows it. `moment` is None for targets without a time."""

    group: PostGroup
    moment: datetime | None
    shown_at: datetime
    targets: list[PostTarget]
    thumbnail: str
    reason_not_to_move: str

    @property
    def local_time(self) -> datetime:
        return timezone.localtime(self.shown_at)

    @property
    def moment_in_query(self) -> str:
        """Return the time of the entry as the address of the page that moves it has it; an empty string without a time."""
        return self.moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if self.moment else ""

    @property
    def marks(self) -> list[tuple[str, str]]:
        """Return the first platforms of an entry of the calendar, each once, with their labels."""
        return [(name, platform_label(name)) for name in list(self._platforms)[:MAX_MARKS]]

    @property
    def hidden_mark_count(self) -> int:
        return len(self._platforms) - len(self.marks)

    @property
    def has_other_times(self) -> bool:
        """Return whether the post of this entry is published to other accounts at other times."""
        return any(each.scheduled_at != self.moment for each in self.group.targets.all())

    @property
    def _platforms(self) -> dict[str, None]:
        return dict.fromkeys(each.platform for each in self.targets)


def prepare_calendar_entries(page: WorkspacePage, groups: Sequence[PostGroup]) -> list[CalendarEntry]:
    """Return the entries for posts of `first_calendar_posts_per_day`; one query reads the thumbnails of their first files."""
    first_files = {group.id: attached_media_ids(group)[:1] for group in groups}
    assets = workspace_assets_by_id(page.workspace.id, [pk for ids in first_files.values() for pk in ids])
    entries = []
    for group in groups:
        asset = next((assets[pk] for pk in first_files[group.id] if pk in assets), None)
        moment, shown_at = (cast("datetime", vars(group)[name]) for name in ("moment", "shown_at"))
        targets = targets_at_moment(group, moment)
        reason = reason_not_to_move(page, group, targets)
        entries.append(CalendarEntry(group, moment, shown_at, targets, signed_preview_url(asset) if asset else "", reason))
    return entries


def targets_at_moment(group: PostGroup, moment: datetime | None) -> list[PostTarget]:
    """Return the targets of a post that have this time, or that have none, without cancelled ones."""
    every = group.targets.all()
    return [each for each in every if each.scheduled_at == moment and each.status != TargetStatus.CANCELLED]


def reason_not_to_move(page: WorkspacePage, group: PostGroup, targets: Sequence[PostTarget]) -> str:
    """Return why a person cannot move these targets of a post in the calendar; an empty string if they can."""
    if not page.may_write:
        return READ_ONLY_REASON
    if group.status in UNFINISHED_GROUP_STATUSES and targets and all(map(is_changeable, targets)):
        return "" if targets[0].scheduled_at else "It has no time yet. Open it to schedule it."
    if group.status in (GroupStatus.FAILED, GroupStatus.PARTIAL, GroupStatus.UNCONFIRMED):
        return "It was already sent. Open the post to see what can be done."
    return BEGUN_REASON
