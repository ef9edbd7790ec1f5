"""The days of the calendar's month, week and list as HTML: their links, their entries and empty slots.

A template would take a quarter of the page's time for the six weeks of a month.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cache
from urllib.parse import urlencode

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.pages.language import format_date
from posts.dashboard.calendar_days import CalendarDay
from workspaces.workspace_page import WorkspacePage

WEEKDAYS = [date(2027, 3, day) for day in range(1, 8)]  # a Monday and the six days after it


def render_grid(page: WorkspacePage, view: str, days: Sequence[CalendarDay]) -> SafeString:
    """Return the days of the calendar's month, week or list as HTML."""
    return SafeString("".join(map(_DayRenderer(page, view).render_day, days)))


class _DayRenderer:
    """Renders the days of one calendar page; what they have in common, such as addresses and words, is made once."""

    def __init__(self, page: WorkspacePage, view: str) -> None:
        self._shows_now = view != "month"
        kept = {name: value for name, value in page.request.GET.items() if name not in ("view", "date", "page")}
        self._day_address = escape(f"?{urlencode({**kept, 'view': 'day'})}&date=")
        self._composer = page.url_of_page("compose") if page.may_write_posts else ""
        self._in_words = cache(format_date)
        self._today, self._now, self._new_post = _("Today"), _("Now: %(time)s"), _("New post on %(day)s")
        self._more = _('%(count)s more<span class="out-of-sight"> on %(day)s</span>')

    def render_day(self, day: CalendarDay) -> str:
        css = ("" if day.inside else "outside ") + ("" if day.entries or day.slots else "free")
        now = ' aria-current="date"' if day.is_today else ""
        place = "" if day.is_over else f' data-day="{day.date}"'  # where posts can be dropped
        entries = self._entries(day)
        shown = f'<ul class="entries">{entries}</ul>' if entries else ""
        return f'<li class="{css}"{now}{place}>{self._head(day)}{shown}{self._link_to_hidden_entries(day)}</li>'

    def _head(self, day: CalendarDay) -> str:
        weekday = self._in_words(WEEKDAYS[day.date.weekday()], "D")
        month = self._in_words(day.date.replace(day=1), "F")
        today = f' <span class="today">{self._today}</span>' if day.is_today else ""
        return (
            f'<div class="day-head"><h2><a href="{self._day_address}{day.date}"><span class="weekday">{weekday} </span>'
            f'{day.date.day}<span class="of-month"> {month}</span></a>{today}</h2>{self._link_to_composer(day)}</div>'
        )

    def _link_to_composer(self, day: CalendarDay) -> str:
        when = day.time_of_new_post if self._composer else ""
        words = self._new_post % {"day": format_date(day.date, "j F")} if when else ""
        link = '<a class="add" href="{}?when={}"><span aria-hidden="true">+</span><span class="out-of-sight">{}</span></a>'
        return link.format(self._composer, when, words) if when else ""

    def _entries(self, day: CalendarDay) -> str:
        """Return the entries and then the empty slots of a calendar day as HTML, with a line at the current time."""
        shown = [entry.html for entry in day.entries]
        if day.is_today and self._shows_now:
            past = sum(entry.local_time <= day.now for entry in day.entries)
            shown.insert(past, SafeString(f'<li class="now">{self._now % {"time": f"{day.now:%H:%M}"}}</li>'))
        return "".join(shown + [slot.html for slot in day.slots])

    def _link_to_hidden_entries(self, day: CalendarDay) -> str:
        if not day.hidden_entry_count:
            return ""
        words = self._more % {"count": day.hidden_entry_count, "day": format_date(day.date, "j F")}
        return f'<a class="more" href="{self._day_address}{day.date}">{words}</a>'
