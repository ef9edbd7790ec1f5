"""The entries of the calendar: a post at one of the times of its targets, with marks, a thumbnail and a link that moves it.

They are not rendered by a template: a page has a hundred of them, and an included template takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Protocol, TypeVar

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from heroicons.templatetags.heroicons import heroicon_micro

from config.pages.templatetags.dashboard import status_in_words, time_of_day
from media.links import signed_preview_url
from posts.attached_media import existing_workspace_assets_by_id
from posts.calendar_posts import CalendarPost
from posts.dashboard.account_marks import AccountMarks
from posts.services.changes import ChangeableTarget, is_unattempted_target
from posts.states import GROUP_STATUSES_NEEDING_A_PERSON, UNFINISHED_GROUP_STATUSES, GroupStatus, TargetStatus
from posts.tags import distinct_tags_in_text
from workspaces.workspace_page import WorkspacePage

MAX_TAGS_SHOWN = 3
BEGUN_REASON = gettext_lazy("It is being published or was published, so its time can no longer be changed.")
READ_ONLY_REASON = gettext_lazy("Your role does not allow moving posts.")
WARNING_SIGN = mark_safe('<strong class="sign" aria-hidden="true">! </strong>')
MOVE_ICON = heroicon_micro("arrows-right-left")


class TargetMoveColumns(ChangeableTarget, Protocol):
    """The columns of a target in a calendar entry that say whether it may still be moved to another time."""

    @property
    def scheduled_at(self) -> datetime | None: ...


_Target = TypeVar("_Target", bound=TargetMoveColumns)


@dataclass(frozen=True)
class RenderedCalendarEntry:
    """A post at one of the times of its targets, as HTML for the calendar."""

    local_time: datetime
    html: SafeString


def render_calendar_entries(
    page: WorkspacePage, posts: Sequence[CalendarPost], marks: AccountMarks, *, characters: int
) -> list[RenderedCalendarEntry]:
    """Return calendar entries as HTML, one for each of these posts, with at most `characters` characters of its text.

    One query reads the thumbnails of their first files.
    """
    first_files = {post.id: post.media[0]["media_id"] for post in posts if post.media}
    assets = existing_workspace_assets_by_id(page.workspace.id, first_files.values())
    renderer = _EntryRenderer(page, marks, characters)
    entries = []
    for post in posts:
        asset = assets.get(first_files.get(post.id, ""))
        entries.append(renderer.render_entry(post, signed_preview_url(asset) if asset else ""))
    return entries


class _EntryRenderer:
    """Renders the entries of one calendar page; what they have in common, such as addresses and marks, is made once."""

    def __init__(self, page: WorkspacePage, marks: AccountMarks, characters: int) -> None:
        self._page, self._marks, self._characters = page, marks, characters
        self._zone, self._may_write = page.zone, page.may_write_posts
        self._posts, self._calendar = page.url_of_page("posts"), page.url_of_page("calendar")
        self._calendar_query = escape(page.request.GET.urlencode())
        self._label = cache(status_in_words)
        self._title = cache(lambda reason: format_html(' title="{}"', reason))
        self._move, self._move_at, self._no_text = _("Move…"), _("Move the post of %(time)s…"), _("(no text)")
        self._several = _(", has several times")

    def render_entry(self, post: CalendarPost, thumbnail: str) -> RenderedCalendarEntry:
        """Return the calendar entry of a post as HTML; only the texts that people have written are escaped."""
        local_time = post.shown_at.astimezone(self._zone)
        targets = targets_at_moment(post.targets, post.moment)
        reason = reason_not_to_move(self._page, post.status, targets)
        text = escape(_shortened(post.excerpt, self._characters) or self._no_text)
        several = self._several if any(each.scheduled_at != post.moment for each in post.targets) else ""
        move = "" if reason else self._address_of_move(post)
        html = [
            f'<li class="entry {post.status}"',
            f' draggable="true" data-move="{move}" data-time="{local_time:%H:%M}">' if move else ">",
            f'<a href="{self._posts}/{post.id}"{self._title(reason) if reason and self._may_write else ""}>',
            WARNING_SIGN if post.status in GROUP_STATUSES_NEEDING_A_PERSON else "",
            f'{time_of_day(local_time)} {self._marks.marks_of_post(targets)} <span class="excerpt">{text}</span>',
            _tag_chips(post.tags) if post.tags else "",
            f'<span class="out-of-sight"> ({self._label(post.status)}{several})</span></a>',
            f'<img src="{escape(thumbnail)}" alt="" width="32" height="32" loading="lazy">' if thumbnail else "",
            self._move_link(move, local_time) if move else "",
            "</li>",
        ]
        return RenderedCalendarEntry(local_time, SafeString("".join(html)))

    def _address_of_move(self, post: CalendarPost) -> str:
        """Return the escaped URL of the page that moves a calendar entry: the targets of a post with the entry's time."""
        at = post.moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if post.moment else ""
        return f"{self._calendar}/move/{post.id}?{self._calendar_query}&amp;at={at}"

    def _move_link(self, address: str, local_time: datetime) -> str:
        words = self._move_at % {"time": f"{local_time:%H:%M}"}
        link = f'<a class="move" href="{address}" title="{self._move}">{MOVE_ICON}'
        return f'{link}<span class="out-of-sight">{words}</span></a>'


def _tag_chips(tags: str) -> SafeString:
    return format_html_join(
        "", ' <span class="tag">{}</span>', ((tag,) for tag in distinct_tags_in_text(tags)[:MAX_TAGS_SHOWN])
    )


def _shortened(text: str, characters: int) -> str:
    return f"{text[: characters - 1]}…" if len(text) > characters else text


def targets_at_moment(targets: Iterable[_Target], moment: datetime | None) -> list[_Target]:
    """Return the targets of a post that a calendar entry stands for: those with its time, without cancelled ones."""
    return [each for each in targets if each.scheduled_at == moment and each.status != TargetStatus.CANCELLED]


def reason_not_to_move(page: WorkspacePage, status: str, targets: Sequence[TargetMoveColumns]) -> str:
    """Return why a person cannot move the targets of a calendar entry; an empty string if they can be moved."""
    if not page.may_write_posts:
        return str(READ_ONLY_REASON)
    if status in UNFINISHED_GROUP_STATUSES and targets and all(map(is_unattempted_target, targets)):
        return "" if targets[0].scheduled_at else _("It has no time yet. Open it to schedule it.")
    if status in (GroupStatus.FAILED, GroupStatus.PARTIAL, GroupStatus.UNCONFIRMED):
        return _("It was already sent. Open the post to see what can be done.")
    return str(BEGUN_REASON)
