"""The empty slots of accounts in the days that the calendar shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby, takewhile
from operator import itemgetter

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import ConnectedAccount
from accounts.platforms.marks import platform_mark_from_sprite
from accounts.platforms.registry import platform_label
from accounts.slots import MIN_LEAD, slot_occurrences
from config.pages.templatetags.dashboard import time_of_day
from posts.day_lists import CalendarFilters
from posts.slot_choice import taken_slots
from workspaces.workspace_page import WorkspacePage

MAX_ACCOUNTS = 20
MAX_SLOTS_PER_DAY = {"month": 1, "week": 6, "day": 40, "list": 6}  # that of the month says how many the day has
PLUS_SIGN = '<span aria-hidden="true"> +</span>'


@dataclass(frozen=True)
class EmptySlot:
    """A free slot of an account as the calendar shows it; in the month view, one stands for all free slots of its day."""

    account: ConnectedAccount
    local_time: datetime
    html: SafeString


def empty_slots_by_day(
    page: WorkspacePage,
    view: str,
    window: tuple[datetime, datetime],
    accounts: Sequence[ConnectedAccount],
    filters: CalendarFilters,
) -> dict[date, list[EmptySlot]]:
    """Return the first empty slots of each local day in a view of the calendar, of at most MAX_ACCOUNTS accounts.

    A filter by text, tag, state or agent hides them, since they are about posts. Runs at most one query.
    """
    shown = [each for each in accounts if each.slots and filters.account_id in (None, each.id)]
    shown = [each for each in shown if filters.platform in (None, each.platform)][:MAX_ACCOUNTS]
    begin = max(window[0], timezone.now() + MIN_LEAD)
    if (
        not shown
        or view not in MAX_SLOTS_PER_DAY
        or begin >= window[1]
        or filters.text
        or filters.tag
        or filters.status
        or filters.agent_id
    ):
        return {}
    taken = taken_slots([each.id for each in shown], (begin, window[1]))
    free = [
        (each.at, account.id, account)
        for account in shown
        for each in takewhile(lambda slot: slot.at < window[1], slot_occurrences(account, after=begin))
        if (account.id, each.at) not in taken
    ]
    free.sort(key=itemgetter(0, 1))
    composer, zone = page.url_of_page("compose") if page.may_write_posts else "", page.zone
    by_day: dict[date, list[EmptySlot]] = {}
    for day, slots_of_day in groupby(free, lambda slot: slot[0].astimezone(zone).date()):
        slots = list(slots_of_day)
        number, first = len(slots) if view == "month" else None, slots[: MAX_SLOTS_PER_DAY[view]]
        by_day[day] = [_render_slot(account, at.astimezone(zone), composer, number) for at, _id, account in first]
    return by_day


def _render_slot(account: ConnectedAccount, local_time: datetime, composer: str, number: int | None) -> EmptySlot:
    """Return an empty slot of an account as HTML for the calendar, linked to the composer if its address is given.

    It names its account or, if `number` is given, says that this is the first of so many slots of its day.
    """
    if number is None:
        words = _('Empty<span class="out-of-sight"> slot of</span> {platform} {handle}')
    else:
        words = ngettext(
            '{count} free<span class="out-of-sight"> slot of {platform} {handle}</span>',
            '{count} free<span class="out-of-sight"> slots, the first of {platform} {handle}</span>',
            number,
        )
    handle = account.handle or account.external_id
    shown = format_html(words, platform=platform_label(account.platform), handle=handle, count=number)
    day, time, when = f"{local_time:%Y-%m-%d %H:%M %Y-%m-%dT%H:%M}".split()
    html = f"{time_of_day(local_time)} {platform_mark_from_sprite(account.platform, beside_label=True)} "
    html += f'<span class="excerpt">{shown}</span>{PLUS_SIGN if composer and number is None else ""}'
    if composer:
        query = f"when={when}&amp;account={account.id}&amp;slot={slot_query_value(account, local_time)}"
        html = f'<a href="{composer}?{query}">{html}</a>'
    attributes = f'class="slot" data-day="{day}" data-time="{time}" data-account="{account.id}"'
    return EmptySlot(account, local_time, SafeString(f"<li {attributes}>{html}</li>"))


def slot_query_value(account: ConnectedAccount, at: datetime) -> str:
    """Return the text that names an empty slot in the composer's address and form: the account's id and the time."""
    return f"{account.id}@{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def is_coming_slot_of_account(account: ConnectedAccount, at: datetime) -> bool:
    """Return whether a time is a coming slot of an account, on which a post can be dropped in the calendar."""
    coming = slot_occurrences(account, after=max(at, timezone.now() + MIN_LEAD))
    return next((each.at == at for each in coming), False)
