"""API views of series: create, list, read, change, skip an occurrence, and end."""

from __future__ import annotations

import functools
from typing import Any

from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import Page, page_response_body
from config.api.policies import Access, Body, Idempotency
from config.api.views import OperationViewSet
from posts.dry_run_reply import dry_run_reply
from posts.models import Series
from posts.plan_building import WRITE_SCOPES
from posts.serializers.series import (
    CreateSeriesPreview,
    CreateSeriesSerializer,
    EndSeriesPreview,
    SeriesEnvelope,
    SeriesListQuery,
    SeriesPageSerializer,
    SkipOccurrencePreview,
    SkipOccurrenceSerializer,
    UpdateSeriesPreview,
    UpdateSeriesSerializer,
)
from posts.series_json import series_json
from posts.series_selectors import get_series, list_series, upcoming_occurrences_by_series_id
from posts.services.series import SeriesEdit, create_series, end_series, skip_occurrence, update_series
from posts.services.series_occurrences import cancel_or_edit_scheduled_posts

CONTENT_ERRORS = ("CONTENT_INVALID", "AGENT_MODE_FORBIDS", "ACCOUNT_NOT_ALLOWED", "WEBHOOK_URL_NOT_ALLOWED")


def _replay_series(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    """Return the API view's response to a repeated request (same idempotency key): the series as it is now."""
    return {"series": Series.objects.get(pk=record.resource_id)}


# An operation that creates or changes a series and returns it.
_series_operation = functools.partial(
    operation, access=Access(WRITE_SCOPES), idempotency=Idempotency("transaction", replay=_replay_series)
)
_changing_operation = functools.partial(_series_operation, responses={200: SeriesEnvelope})


class SeriesViewSet(OperationViewSet):
    @_series_operation(
        "series.create",
        summary="Create a series: a post that recurs by a rule",
        description="Each post is scheduled some days before its time, as POST /posts by the series' maker would: limits, "
        "approvals, caps and validation apply to each. A local time that a change of the clocks skips is the first instant "
        "after it; one that comes twice is the first. The scopes are those of a scheduled post.",
        body=Body(CreateSeriesSerializer),
        responses={201: SeriesEnvelope},
        preview=CreateSeriesPreview,
        errors=("CONFLICT", *CONTENT_ERRORS),
    )
    def create(self, call: Call) -> Reply | DryRunReply:
        plan = create_series(caller=call.caller, fields=call.data, dry_run=call.dry_run, plan_hash=call.plan_hash)
        if call.dry_run:
            return dry_run_reply(plan, call.data)
        return Reply({"series": plan.series}, 201, plan.series.id)

    @operation(
        "series.list",
        summary="List the series of a workspace",
        access=Access("posts.read"),
        query=SeriesListQuery,
        responses={200: SeriesPageSerializer},
    )
    def list_series(self, call: Call) -> Reply:
        page = list_series(caller=call.caller, **call.query)
        upcoming = upcoming_occurrences_by_series_id(page.rows)
        shown = Page([series_json(series, upcoming[series.id]) for series in page.rows], page.next_cursor)
        return Reply(body=page_response_body("series", shown))

    @operation(
        "series.get",
        summary="Read a series with its next occurrences",
        access=Access("posts.read"),
        responses={200: SeriesEnvelope},
    )
    def retrieve(self, call: Call, series_id: str) -> Reply:
        return Reply({"series": get_series(caller=call.caller, series_id=series_id)})

    @_changing_operation(
        "series.update",
        summary="Change, pause or resume a series",
        description="Posts that are already scheduled stay as they are, unless `apply_to_scheduled` is true. Occurrences "
        "that pass while a series is paused are left out.",
        body=Body(UpdateSeriesSerializer),
        preview=UpdateSeriesPreview,
        errors=("FORBIDDEN", "INVALID_STATE", *CONTENT_ERRORS),
    )
    def partial_update(self, call: Call, series_id: str) -> Reply | DryRunReply:
        edit = SeriesEdit(**call.data)
        series = update_series(caller=call.caller, series_id=series_id, edit=edit, dry_run=call.dry_run)
        return _reply(call, series)

    @_changing_operation(
        "series.delete",
        summary="End a series and cancel its scheduled posts",
        preview=EndSeriesPreview,
        errors=("ACCOUNT_NOT_ALLOWED", "INVALID_STATE"),
    )
    def end(self, call: Call, series_id: str) -> Reply | DryRunReply:
        return _reply(call, end_series(caller=call.caller, series_id=series_id, dry_run=call.dry_run))

    @_changing_operation(
        "series.skip",
        summary="Leave out one occurrence of a series",
        description="If its post is scheduled already, the post is cancelled. Skipping it again changes nothing.",
        body=Body(SkipOccurrenceSerializer),
        preview=SkipOccurrencePreview,
        errors=("ACCOUNT_NOT_ALLOWED", "INVALID_STATE"),
    )
    def skip_occurrence(self, call: Call, series_id: str) -> Reply | DryRunReply:
        at = call.data["at"]
        return _reply(call, skip_occurrence(caller=call.caller, series_id=series_id, at=at, dry_run=call.dry_run))


def _reply(call: Call, series: Series) -> Reply | DryRunReply:
    """Return the API view's response with a changed series; after the commit, its scheduled posts are cancelled or edited."""
    if call.dry_run:
        return DryRunReply(call.data, series, "would_update")

    def withdraw() -> dict[str, Any]:
        cancel_or_edit_scheduled_posts(series)  # after the commit; if this process dies meanwhile, a worker does it
        return {"series": series}

    return Reply({"series": series}, 200, series.id, reload_after_commit=withdraw)
