"""Database queries of series, and of their occurrences that lie ahead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from agents.models import Agent
from config.api.caller import Caller, require_access
from config.api.errors import missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first
from config.api.scopes import AlternativeScopes
from config.db.ids import is_id
from posts.models import PostGroup, Series, SeriesOccurrence
from posts.models.series import LOCAL_FORMAT
from posts.recurrence.occurrences import SEARCHED_YEARS
from posts.series_json import UpcomingOccurrence
from posts.states import CANCELLABLE_GROUP_STATUSES, UNFINISHED_GROUP_STATUSES

SHOWN_OCCURRENCES = 10
MAX_LIVE_SERIES = 100  # in a workspace
LIVE_SERIES_CONDITION = ~Q(status=Series.Status.ENDED)
_OF_REVOKED_AGENT = Exists(Agent.objects.filter(pk=OuterRef("agent_id"), status=Agent.Status.REVOKED))


def get_series(
    *, caller: Caller, series_id: str, scope: str | AlternativeScopes = "posts.read", write: bool = False
) -> Series:
    """Query the series with this id, if the caller may access it. Raises NotFound, ScopeMissing, WorkspacePaused."""
    series = _as_ended_with_agent(Series.objects.filter(pk=series_id)).first() if is_id(series_id, "ser") else None
    if series is None or (not caller.is_user and series.workspace_id != caller.workspace_id):
        raise missing_or_foreign_id_error(None, "series")
    require_access(caller, series.workspace_id, scope, write=write, noun="series")
    return _shown(series)


def list_series(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[Series]:
    """Query a page of a workspace's series, newest first. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "posts.read", write=False)
    rows = _as_ended_with_agent(Series.objects.filter(workspace_id=workspace_id))
    page = paginate_newest_first(rows, limit=limit, cursor=cursor)
    return Page([_shown(series) for series in page.rows], page.next_cursor)


def count_series_not_ended(*, workspace_id: str) -> int:
    """Query how many of a workspace's series have not ended; paused ones count."""
    return Series.objects.filter(LIVE_SERIES_CONDITION, workspace_id=workspace_id).count()


def live_series_of_revoked_agents() -> QuerySet[Series]:
    """Query the series that have to end because their agents were revoked."""
    revoked = Agent.objects.filter(status=Agent.Status.REVOKED)
    return Series.objects.filter(LIVE_SERIES_CONDITION, agent_id__isnull=False, agent_id__in=revoked.values("pk"))


def must_be_cancelled_after_series_change(group: PostGroup) -> bool:
    """Query whether a post of a series must be cancelled, because its series was ended or changed."""
    if group.series_id is None:
        return False
    revoked = Exists(Agent.objects.filter(pk=OuterRef("series__agent_id"), status=Agent.Status.REVOKED))
    ending = Q(revoked) & ~Q(series__status=Series.Status.ENDED)  # afterwards its posts are marked
    return SeriesOccurrence.objects.filter(Q(withdrawn=True) | ending, group=group).exists()


def occurrences_that_can_be_cancelled(series: Series) -> QuerySet[SeriesOccurrence]:
    """Query the occurrences of a series whose posts can still be cancelled for all of their accounts."""
    return series.occurrences.filter(group__status__in=CANCELLABLE_GROUP_STATUSES)


def upcoming_occurrences(series: Series) -> list[UpcomingOccurrence]:
    """Query the next occurrences of a series; a series that has ended has none."""
    return upcoming_occurrences_by_series_id([series])[series.id]


def upcoming_occurrences_by_series_id(rows: Sequence[Series]) -> dict[str, list[UpcomingOccurrence]]:
    """Query the next occurrences of several series at once, by series id.

    They are those of the rule, and posts that the rule had before it was changed.
    """
    now = timezone.now()
    stored: dict[str, dict[datetime, UpcomingOccurrence]] = defaultdict(dict)
    unfinished: set[tuple[str, datetime]] = set()
    occurrences = SeriesOccurrence.objects.filter(series__in=[row.pk for row in rows], at__gt=now, withdrawn=False)
    for series_id, at, local, group_id, error, group_status in occurrences.order_by("at").values_list(
        "series_id", "at", "local", "group_id", "error", "group__status"
    ):
        stored[series_id][at] = UpcomingOccurrence(at, local, group_id, error)
        if group_status in UNFINISHED_GROUP_STATUSES:
            unfinished.add((series_id, at))
    return {series.id: _upcoming(series, now, stored[series.id], unfinished) for series in rows}


def _upcoming(
    series: Series,
    now: datetime,
    stored: dict[datetime, UpcomingOccurrence],
    unfinished: set[tuple[str, datetime]],
) -> list[UpcomingOccurrence]:
    if series.status == Series.Status.ENDED:
        return []
    of_rule = islice(series.recurrence.occurrences(now, now + timedelta(days=366 * SEARCHED_YEARS)), SHOWN_OCCURRENCES)
    found = {each.at: UpcomingOccurrence(each.at, each.local.strftime(LOCAL_FORMAT)) for each in of_rule}
    found |= {at: each for at, each in stored.items() if at in found or (series.id, at) in unfinished}
    return [found[at] for at in sorted(found)[:SHOWN_OCCURRENCES]]


def _as_ended_with_agent(rows: QuerySet[Series]) -> QuerySet[Series]:
    """Annotate a query of series with `agent_revoked`: a revoked agent's series counts as ended before a worker ends it."""
    return rows.annotate(agent_revoked=_OF_REVOKED_AGENT)


def _shown(series: Series) -> Series:
    if vars(series)["agent_revoked"]:
        series.status = Series.Status.ENDED
    return series
