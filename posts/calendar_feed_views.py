"""API views of calendar feeds, and the calendar itself, which calendar programs read without a bearer token."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from config.api import rate_limit
from config.api.client_address import client_address_for_rate_limits
from config.api.error_handlers import django_error_response
from config.api.errors import NotFound, RateLimited
from config.api.models import IdempotencyRecord
from config.api.operation import Call, DryRunReply, Reply, operation
from config.api.paging import PageQuery, page_response_body
from config.api.policies import Idempotency
from config.api.views import OperationViewSet, require_safe_with_json_error
from posts.calendar_feed_selectors import feed_with_id, feed_with_token, list_calendar_feeds, targets_in_feed
from posts.icalendar_text import icalendar_of_targets
from posts.serializers.calendar_feeds import (
    CalendarFeedEnvelope,
    CalendarFeedPage,
    CreateCalendarFeedPreview,
    DeleteCalendarFeedPreview,
    NewCalendarFeedEnvelope,
)
from posts.services.calendar_feeds import create_calendar_feed, delete_calendar_feed

READS_PER_MINUTE = 10  # of a feed; for unknown addresses, of an IP address


def _replay_new_feed(call: Call, record: IdempotencyRecord) -> dict[str, Any]:
    feed = feed_with_id(caller=call.caller, workspace_id=call.path["workspace_id"], feed_id=record.resource_id)
    return {"calendar_feed": {"id": feed.id, "url": None, "created_at": feed.created_at}}


class CalendarFeedViewSet(OperationViewSet):
    @operation(
        "calendar_feeds.list",
        summary="List the calendar feeds of a workspace",
        query=PageQuery,
        responses={200: CalendarFeedPage},
        errors=("USER_SESSION_REQUIRED", "NOT_FOUND"),
    )
    def list_feeds(self, call: Call, workspace_id: str) -> Reply:
        page = list_calendar_feeds(caller=call.caller, workspace_id=workspace_id, **call.query)
        return Reply(page_response_body("calendar_feeds", page))

    @operation(
        "calendar_feeds.create",
        summary="Create a calendar feed",
        description="Its secret address serves the posts of the workspace as a calendar (RFC 5545), from 90 days ago to 366 "
        "days ahead, at most 500 targets before now and 1,500 ahead. It works until it is deleted or the person who created "
        "it leaves the workspace.",
        responses={201: NewCalendarFeedEnvelope},
        preview=CreateCalendarFeedPreview,
        idempotency=Idempotency("transaction", replay=_replay_new_feed),
        errors=("USER_SESSION_REQUIRED", "NOT_FOUND", "WORKSPACE_PAUSED", "CONFLICT"),
    )
    def create(self, call: Call, workspace_id: str) -> Reply | DryRunReply:
        created = create_calendar_feed(caller=call.caller, workspace_id=workspace_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, created.feed, "would_create")
        feed = created.feed
        body = {"calendar_feed": {"id": feed.id, "url": created.url, "created_at": feed.created_at}}
        return Reply(body, 201, feed.id)

    @operation(
        "calendar_feeds.delete",
        summary="Delete a calendar feed",
        description="Its address answers 404 at once. Members may delete their own feeds, owners and admins all.",
        responses={200: CalendarFeedEnvelope},
        preview=DeleteCalendarFeedPreview,
        idempotency=Idempotency("transaction"),
        errors=("USER_SESSION_REQUIRED", "FORBIDDEN", "NOT_FOUND", "WORKSPACE_PAUSED"),
    )
    def destroy(self, call: Call, workspace_id: str, feed_id: str) -> Reply | DryRunReply:
        feed = delete_calendar_feed(caller=call.caller, workspace_id=workspace_id, feed_id=feed_id, dry_run=call.dry_run)
        if call.dry_run:
            return DryRunReply({}, feed, "would_delete")
        return Reply({"calendar_feed": feed}, resource_id=feed.id)


@require_safe_with_json_error
def serve_calendar(request: HttpRequest, token: str) -> HttpResponse:
    """Serve a workspace's posts as a calendar at the secret address of a feed; unknown and deleted ones answer 404."""
    feed = feed_with_token(token)
    bucket = rate_limit.Bucket(f"calendar:{feed.id if feed else client_address_for_rate_limits(request)}", READS_PER_MINUTE)
    verdict = rate_limit.count_request_unless_rate_limited(bucket)
    if not verdict.allowed:
        return django_error_response(RateLimited(headers=verdict.headers()))
    if feed is None:
        return django_error_response(NotFound())
    workspace = feed.member.workspace
    return HttpResponse(
        icalendar_of_targets(workspace, targets_in_feed(workspace.id)),
        content_type="text/calendar; charset=utf-8",
        headers={"Cache-Control": "private, max-age=300", "Content-Disposition": 'inline; filename="posts.ics"'},
    )


serve_calendar.for_programs = True  # type: ignore[attr-defined]  # without sessions (config/pages/api_or_page.py)
