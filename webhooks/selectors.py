"""Reads of deliveries."""

from __future__ import annotations

from config.api.caller import Caller, absent, require
from config.api.paging import Page, paginate
from config.db.ids import is_id
from webhooks.models import Delivery


def deliveries_of(
    *,
    caller: Caller,
    workspace_id: str,
    limit: int,
    cursor: str | None = None,
    status: str | None = None,
    post_group_id: str | None = None,
) -> Page[Delivery]:
    """The workspace's deliveries, newest first. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "posts.read", write=False)
    rows = Delivery.objects.select_related("event").filter(workspace_id=workspace_id)
    if status:
        rows = rows.filter(status=status)
    if post_group_id:
        rows = rows.filter(event__post_group_id=post_group_id)
    return paginate(rows, limit=limit, cursor=cursor)


def delivery_of(*, caller: Caller, delivery_id: str, scope: str, write: bool) -> Delivery:
    """A delivery that exists for this caller. Raises ScopeMissing, NotFound, WorkspacePaused."""
    rows = Delivery.objects.select_related("event")
    delivery = rows.filter(pk=delivery_id).first() if is_id(delivery_id, "dlv") else None
    if delivery is None:
        raise absent(None, "delivery")
    require(caller, delivery.workspace_id, scope, write=write, noun="delivery")
    return delivery
