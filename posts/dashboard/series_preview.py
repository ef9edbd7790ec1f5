"""What a series will do, for its pages: its next posts with text and price, and what they cost in each month."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.pages.sentences import SENTENCES
from posts.models import Series
from posts.series_json import UpcomingOccurrence
from posts.series_posts import post_input_of_occurrence
from posts.series_selectors import upcoming_occurrences

PREVIEWED_PERIOD = timedelta(days=92)
# By code: why a post could not be scheduled, where the sentences of pages do not fit a series.
REFUSAL_SENTENCES = {
    "CONTENT_INVALID": _("The post does not fit all of its accounts any more, or one of them has to be connected again."),
    "FORBIDDEN": _("The person who made the series may no longer write posts in the workspace."),
    "API_KEY_REVOKED": _("The key that made the series was revoked."),
    "API_KEY_EXPIRED": _("The key that made the series has expired."),
    "SCOPE_MISSING": _("Whoever made the series may not schedule posts any more."),
    "ACCOUNT_NOT_ALLOWED": _("The agent that made the series may not use one of its accounts any more."),
    "AGENT_MODE_FORBIDS": _("The agent that made the series may only write drafts now."),
}


@dataclass(frozen=True)
class ShownOccurrence:
    """A row in the preview of a series: the time and text of a coming post, its id once made, or why it was refused."""

    at: datetime
    local: datetime
    text: str
    post_group_id: str | None
    problem: str


@dataclass(frozen=True)
class UtcMonthCost:
    """The number and total price of a series' posts in one calendar month (in UTC), counted from now on."""

    month: datetime
    posts: int
    cents: int


def shown_next_posts_of_series(series: Series) -> list[ShownOccurrence]:
    """Return the preview rows of a series' next posts; posts not made yet are shown with the text that they will get."""
    shown, number = [], series.made
    for each in upcoming_occurrences(series):
        number += not each.post_group_id
        text = "" if each.post_group_id else post_input_of_occurrence(series, each.at, number=number, local=each.local).text
        local = datetime.fromisoformat(each.local)
        shown.append(ShownOccurrence(each.at, local, text, each.post_group_id, _problem(each)))
    return shown


def monthly_prices(series: Series) -> list[UtcMonthCost]:
    """Return what the posts of a series cost in the rest of this month, and in each of the next two (months in UTC)."""
    now = timezone.now().astimezone(UTC)
    months = Counter((each.at.year, each.at.month) for each in series.recurrence.occurrences(now, now + PREVIEWED_PERIOD))
    following = [divmod(12 * now.year + now.month - 1 + ahead, 12) for ahead in range(3)]
    return [
        UtcMonthCost(datetime(year, place + 1, 15, tzinfo=UTC), posts, posts * series.cost_cents_each)
        for year, place in following
        if (posts := months[year, place + 1])
    ]


def _problem(occurrence: UpcomingOccurrence) -> str:
    error: Mapping[str, Any] | None = occurrence.error
    if error is None:
        return ""
    return str(REFUSAL_SENTENCES.get(error["code"]) or SENTENCES.get(error["code"]) or error["message"])
