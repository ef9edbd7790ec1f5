"""Writes the final state of the service's database as JSON: `python -m tests.chaos.final_state FILE`.

Run as a process of its own with the service's environment; the harness itself imports nothing of the service.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import django


def final_state() -> dict[str, Any]:
    """Return groups, targets, events, deliveries and ledger differences."""
    from accounts.models import ConnectedAccount  # noqa: PLC0415 (Django has to be set up before)
    from billing.models import MonthCounter  # noqa: PLC0415
    from billing.selectors import find_wrong_month_counters  # noqa: PLC0415
    from posts.models import PostGroup, PostTarget  # noqa: PLC0415
    from webhooks.models import Delivery, Event  # noqa: PLC0415

    off = [
        abs(each.counter.held_cents - each.ledger.held_cents) + abs(each.counter.settled_cents - each.ledger.settled_cents)
        for each in find_wrong_month_counters()
    ]
    accounts = ConnectedAccount.objects.filter(sandbox=False)
    return {
        "accounts": list(accounts.values("id", "platform", "status")),
        "groups": list(PostGroup.objects.values("id", "text", "status")),
        "targets": list(
            PostTarget.objects.values("id", "group_id", "account_id", "status", "attempts", "price_cents", "due_at")
        ),
        "events": list(Event.objects.values("id", "kind", "post_group_id", "target_id")),
        "deliveries": list(
            Delivery.objects.values("id", "event_id", "url", "status", "attempts", "last_status_code", "last_error")
        ),
        "drift_cents": sum(off),
        "held_cents": sum(MonthCounter.objects.values_list("held_cents", flat=True)),
        "settled_cents": sum(MonthCounter.objects.values_list("settled_cents", flat=True)),
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    Path(sys.argv[1]).write_text(json.dumps(final_state(), default=str))
