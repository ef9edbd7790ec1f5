"""Creates, signs and sends events like the payment processor."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from typing import Any

from billing import services
from billing.models import ProcessorEvent
from tests.conftest import ApiClient
from workspaces.models import Workspace

PATH = "/billing/webhooks/processor"
SECRET = "whsec_of_the_test"
_numbers = itertools.count(1)


def event(kind: str, thing: dict[str, Any], *, at: int | None = None, **further: Any) -> dict[str, Any]:
    """Return an event of this type about the current state of an object; `at` is its time in Unix seconds."""
    return {
        "id": f"evt_{next(_numbers)}",
        "object": "event",
        "type": kind,
        "created": int(time.time()) if at is None else at,
        "data": {"object": json.loads(json.dumps(thing))},
        **further,
    }


def send(data: dict[str, Any]) -> Any:
    """Sign the event, send it to the service and return the response."""
    body, at = json.dumps(data).encode(), int(time.time())
    return ApiClient().post(PATH, body, processor_signature=f"t={at},v1={v1(body, at)}")


def v1(body: bytes, at: int | str, secret: str = SECRET) -> str:
    """Return the processor's signature of a body at a time."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def subscription_of(api: ApiClient, workspace: Workspace) -> Any:
    """Return the subscription in GET /billing."""
    query = f"workspace_id={workspace.id}&period_start=2027-03-01T00:00:00Z&workspace_monthly_spend_cap_cents=0"
    return api.get(f"/billing?{query}").json()["subscription"]


def send_and_process(kind: str, thing: dict[str, Any], **further: Any) -> ProcessorEvent:
    """Send the event and process it."""
    data = event(kind, thing, **further)
    assert send(data).json() == {"received": True}
    services.process_due_events()
    return ProcessorEvent.objects.get(pk=data["id"])
