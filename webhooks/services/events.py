"""Services that store webhook events, in the same transaction as the change that an event describes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db.models import Max
from django.utils import timezone

from config.api import fields
from config.db.writes import Write, build_insert_writes, write_all_or_return_failed
from config.jobs import wake_up
from config.outbound import DestinationNotAllowed, check_url_without_lookup
from webhooks.models import Delivery, Event

DELIVER_LOOP_NAME = "deliver"


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    """A webhook event that is to be stored: its kind, what it is about, and where to send it.

    `data` is the payload's `data` without target_id: `{"post_group": GROUP}`. `sequence` counts up within the group. An event
    without a `url` is stored but not delivered.
    """

    workspace_id: str
    kind: str
    post_group_id: str
    sequence: int
    trace_id: str
    sandbox: bool
    url: str | None
    data: dict[str, Any]
    target_id: str | None = None
    at: datetime | None = None


def build_event_writes(new_events: Iterable[NewEvent]) -> list[Write]:
    """Return the database writes that store new webhook events with their deliveries.

    Call `wake_delivery_workers_after_commit` once they have run.
    """
    now = timezone.now()
    events, deliveries = [], []
    for new in new_events:
        event = _event(new, now)
        events.append(event)
        if new.url is not None:
            deliveries.append(
                Delivery(event=event, workspace_id=new.workspace_id, url=new.url, host=_host_of(new.url), due_at=now)
            )
    return [*build_insert_writes(events), *build_insert_writes(deliveries)]


def store_events_with_deliveries(new_events: Sequence[NewEvent]) -> None:
    """Store new webhook events with their deliveries. The workers are woken after the commit."""
    write_all_or_return_failed(build_event_writes(new_events))
    wake_delivery_workers_after_commit(new_events)


def wake_delivery_workers_after_commit(new_events: Iterable[NewEvent]) -> None:
    """Wake up the workers that send webhooks once the stored events are committed, if any of them is to be delivered."""
    if any(new.url is not None for new in new_events):
        wake_up.wake_worker_loop_after_commit(DELIVER_LOOP_NAME)


def store_event_without_delivery(
    *, workspace_id: str, kind: str, subject_id: str, trace_id: str, data: dict[str, Any], sandbox: bool = False
) -> Event:
    """Store an event about an object other than a post group, such as an API key, without delivering it to a webhook.

    `subject_id` is the object's id; the caller holds a lock on its row, since `sequence` counts its events.
    """
    earlier = Event.objects.filter(subject_id=subject_id).aggregate(last=Max("sequence"))["last"]
    event = Event(
        workspace_id=workspace_id,
        kind=kind,
        subject_id=subject_id,
        sequence=(earlier or 0) + 1,
        sandbox=sandbox,
        trace_id=trace_id,
    )
    event.payload = _payload(event, data)
    event.save(force_insert=True)
    return event


def _event(new: NewEvent, now: datetime) -> Event:
    event = Event(
        workspace_id=new.workspace_id,
        kind=new.kind,
        post_group_id=new.post_group_id,
        target_id=new.target_id,
        sequence=new.sequence,
        sandbox=new.sandbox,
        trace_id=new.trace_id,
        created_at=new.at or now,
    )
    event.payload = _payload(event, new.data)
    return event


def _payload(event: Event, data: dict[str, Any]) -> bytes:
    """Return the JSON body of a webhook event to store; characters that UTF-8 cannot encode become `?`."""
    content = {
        "id": event.id,
        "type": event.kind,
        "created_at": fields.Timestamp().to_representation(event.created_at),
        "workspace_id": event.workspace_id,
        "trace_id": event.trace_id,
        "sandbox": event.sandbox,
        "sequence": event.sequence,
        "data": {**data, **({"target_id": event.target_id} if event.target_id else {})},
    }
    try:
        return orjson.dumps(content)
    except TypeError:  # lone surrogates, and integers of more than 64 bits
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _host_of(url: str) -> str:
    """Return the host and port of a webhook event's URL, to be stored in the delivery; "" if the URL is not allowed.

    The delivery attempt reports a URL that is not allowed.
    """
    try:
        destination = check_url_without_lookup(url)
    except DestinationNotAllowed:
        return ""
    return f"{destination.host}:{destination.port}"
