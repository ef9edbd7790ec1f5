"""Database queries that read webhook events, deliveries and signing secrets."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from config.api.caller import Caller, require_access, require_operator
from config.api.errors import missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first
from config.db.ids import is_id
from webhooks.models import Delivery, Event, SigningSecret


def list_deliveries(
    *,
    caller: Caller,
    workspace_id: str,
    limit: int,
    cursor: str | None = None,
    status: str | None = None,
    post_group_id: str | None = None,
) -> Page[Delivery]:
    """Webhook query: return a page of a workspace's deliveries, newest first, without payloads."""
    require_access(caller, workspace_id, "posts.read", write=False)
    rows = Delivery.objects.select_related("event").defer("event__payload").filter(workspace_id=workspace_id)
    if status:
        rows = rows.filter(status=status)
    if post_group_id:
        rows = rows.filter(event__post_group_id=post_group_id)
    return paginate_newest_first(rows, limit=limit, cursor=cursor)


def latest_events_of_post_group_oldest_first(
    *, caller: Caller, workspace_id: str, post_group_id: str, limit: int
) -> list[Event]:
    """Webhook query: return a post group's latest events, oldest first, without payloads."""
    require_access(caller, workspace_id, "posts.read", write=False)
    rows = Event.objects.filter(workspace_id=workspace_id, post_group_id=post_group_id).defer("payload")
    return list(rows.order_by("-sequence")[:limit])[::-1]


def get_delivery(*, caller: Caller, delivery_id: str, scope: str, write: bool) -> Delivery:
    """Webhook query: return one delivery that the caller may read. Raises ScopeMissing, NotFound, WorkspacePaused."""
    rows = Delivery.objects.select_related("event")
    delivery = rows.filter(pk=delivery_id).first() if is_id(delivery_id, "dlv") else None
    if delivery is None:
        raise missing_or_foreign_id_error(None, "delivery")
    require_access(caller, delivery.workspace_id, scope, write=write, noun="delivery")
    return delivery


def previous_secret_expiry(*, caller: Caller, workspace_id: str) -> datetime | None:
    """Webhook query: return when the previous signing secret expires; None without one. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "posts.read", write=False)
    until = SigningSecret.objects.filter(pk=workspace_id).values_list("previous_until", flat=True).first()
    return until if until and until > timezone.now() else None


def list_deliveries_as_operator(
    *, caller: Caller, status: str, limit: int, cursor: str | None = None, workspace_id: str | None = None
) -> Page[Delivery]:
    """Webhook query: return a page of deliveries of one or all workspaces, for operators. Raises Forbidden."""
    require_operator(caller)
    rows = Delivery.objects.select_related("event").filter(status=status)
    if workspace_id:
        rows = rows.filter(workspace_id=workspace_id)
    return paginate_newest_first(rows, limit=limit, cursor=cursor)
