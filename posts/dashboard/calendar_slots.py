"""The empty slots of accounts in the days that the calendar shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import takewhile
from operator import itemgetter

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from accounts.models import ConnectedAccount
from accounts.platforms.marks import platform_mark_from_sprite
from accounts.platforms.registry import platform_label
from accounts.slots import MIN_LEAD, slot_occurrences
from config.pages.templatetags.dashboard import when
from posts.day_lists import CalendarFilters
from posts.slot_choice import taken_slots
from workspaces.workspace_page import WorkspacePage

MAX_ACCOUNTS = 20
MAX_SLOTS_PER_DAY = {"week": 6, "day": 40, "list": 6}  # the month has no room for them
PLUS_SIGN = mark_safe('<span aria-hidden="true"> +</span></a>')


@dataclass(frozen=True)
class EmptySlot:
    """A slot of an account that no post has taken, as the calendar shows it."""

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
    by_day: dict[date, list[EmptySlot]] = {}
    composer = page.url_of_page("compose") if page.may_write else ""
    for at, _account_id, account in sorted(free, key=itemgetter(0, 1)):
        local_time = timezone.localtime(at)
        of_day = by_day.setdefault(local_time.date(), [])
        if len(of_day) < MAX_SLOTS_PER_DAY[view]:
            of_day.append(EmptySlot(account, local_time, _slot_html(account, at, local_time, composer)))
    return by_day


def _slot_html(account: ConnectedAccount, at: datetime, local_time: datetime, composer: str) -> SafeString:
    """Return an empty slot as HTML, with a link to the composer if its address is given; see calendar_entries.py."""
    link = '<a href="{}?when={}&amp;account={}&amp;slot={}">'
    return format_html(
        '<li class="slot" data-day="{}" data-time="{}" data-account="{}">{}{} {} <span class="excerpt">{}</span>{}</li>',
        f"{local_time:%Y-%m-%d}",
        f"{local_time:%H:%M}",
        account.id,
        format_html(link, composer, f"{local_time:%Y-%m-%dT%H:%M}", account.id, slot_query_value(account, at))
        if composer
        else "",
        when(at, "H:i"),
        platform_mark_from_sprite(account.platform, beside_label=True),
        format_html(
            _('Empty<span class="out-of-sight"> slot of</span> {platform} {handle}'),
            platform=platform_label(account.platform),
            handle=account.handle or account.external_id,
        ),
        PLUS_SIGN if composer else "",
    )


def slot_query_value(account: ConnectedAccount, at: datetime) -> str:
    """Return the value by which the calendar's link to the composer, and the composer's form, name an empty slot."""
    return f"{account.id}@{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def is_coming_slot_of_account(account: ConnectedAccount, at: datetime) -> bool:
    """Return whether a time is a coming slot of an account, on which a post can be dropped in the calendar."""
    coming = slot_occurrences(account, after=max(at, timezone.now() + MIN_LEAD))
    return next((each.at == at for each in coming), False)
