"""The queries of the API whose time must not grow with the amount of data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ConnectedAccount
from accounts.slots import WEEKDAYS
from auditlog.selectors import audit_entries_of_workspace
from billing.usage_selectors import workspace_month_bill, workspace_month_usage
from config.api.caller import Caller, system_caller
from config.jobs.claims import claim_due
from posts.calendar_feed_selectors import targets_in_feed
from posts.day_lists import list_first_posts_of_each_day, scheduled_posts_of_day
from posts.models import PostTarget, Series
from posts.navigation import count_posts_awaiting_approval_up_to_max
from posts.publishing.attempts import LEASE, claim_targets
from posts.selectors import get_post_group, posts_awaiting_approval, search_posts
from posts.series_selectors import list_series, upcoming_occurrences_by_series_id
from posts.slot_choice import next_slots_with_occupants
from tests.bench import history
from tests.bench.history import LARGE
from webhooks.models import Delivery
from workspaces.models import User
from workspaces.services import create_workspace

Read = Callable[[], Any]
SLOTS = [{"weekday": weekday, "time": time} for weekday in WEEKDAYS for time in ("09:00", "12:30", "17:00")]


def reads(caller: Caller, workspace_id: str, post_group_id: str) -> dict[str, Read]:
    """Return the reads by name; `post_group_id` is a group in the middle of the history."""
    now = timezone.now()
    day = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=1)
    one_day = (day, day + timedelta(days=1))
    here: dict[str, Any] = {"caller": caller, "workspace_id": workspace_id}
    account = ConnectedAccount.objects.filter(workspace_id=workspace_id).exclude(slots=[]).get()
    return {
        "claim of due targets": _claim,
        "claim of due deliveries": lambda: claim_due(Delivery.objects.all(), limit=100, lease=LEASE),
        "GET /posts (a day)": lambda: scheduled_posts_of_day(**here, window=one_day, limit=50),
        "calendar (a day)": lambda: list_first_posts_of_each_day(**here, window=one_day, zone=ZoneInfo("UTC"), per_day=50),
        "calendar feed": lambda: targets_in_feed(workspace_id),
        "GET /accounts/{id}/slots/next": lambda: next_slots_with_occupants(account, count=10),
        "GET /series": lambda: upcoming_occurrences_by_series_id(list_series(**here, limit=50).rows),
        "GET /posts/{id}": lambda: get_post_group(caller=caller, post_group_id=post_group_id).targets.all()[:],
        "GET /posts/search": lambda: search_posts(**here, status="published", limit=50),
        "approvals": lambda: posts_awaiting_approval(**here, limit=50),
        "count of approvals": lambda: count_posts_awaiting_approval_up_to_max(workspace_id),
        "what needs a person": lambda: search_posts(**here, status="failed", limit=50),
        "GET /usage": lambda: workspace_month_usage(**here, at=now, cap_cents=1000),
        "GET /billing": lambda: workspace_month_bill(**here, at=now, cap_cents=1000, free_credit_cents=100),
        "GET /logs": lambda: list(audit_entries_of_workspace(**here)[:50]),
        "GET /webhooks/deliveries": lambda: list(Delivery.objects.filter(workspace_id=workspace_id).order_by("-pk")[:50]),
    }


def _claim() -> None:
    """Claim due targets as the publisher does, and roll back."""
    with transaction.atomic():
        claim_targets(PostTarget.objects.filter(platform="bluesky"), limit=32)
        transaction.set_rollback(True)


def seconds_of(read: Read, *, times: int = 50) -> float:
    """Return the fastest of several runs, because other processes can only slow them down."""
    read()
    took = []
    for _ in range(times):
        began = time.perf_counter()
        read()
        took.append(time.perf_counter() - began)
    return min(took)


def whole_tables_read(read: Read) -> list[str]:
    """Return the large tables that the read scans completely, by PostgreSQL's query plan."""
    with CaptureQueriesContext(connection) as captured:
        read()
    found: list[str] = []
    for query in captured.captured_queries:
        if not query["sql"].startswith("SELECT"):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {query['sql']}")
            [plan] = cursor.fetchone()
        nodes = json.loads(plan) if isinstance(plan, str) else plan
        found += _sequential(nodes[0]["Plan"])
    return found


def _sequential(node: dict[str, Any]) -> list[str]:
    here = [node["Relation Name"]] if node["Node Type"] == "Seq Scan" and node["Relation Name"] in LARGE else []
    return here + [table for part in node.get("Plans", []) for table in _sequential(part)]


def add_slots_and_series(workspace_id: str) -> None:
    """Give the workspace's first account slots, and the workspace a daily series of posts to it."""
    account = ConnectedAccount.objects.filter(workspace_id=workspace_id).earliest("pk")
    ConnectedAccount.objects.filter(pk=account.pk).update(slot_timezone="Europe/Berlin", slots=SLOTS)
    target = {"platform": account.platform, "connected_account_id": account.pk}
    Series.objects.create(
        workspace_id=workspace_id,
        timezone="Europe/Berlin",
        starts_at="2026-01-01T09:00",
        rrule="FREQ=DAILY",
        post={"text": "Every day", "targets": [target]},
        cost_cents_each=1,
        maker="system:system",
    )


class Scene:
    """A workspace with a history, in the empty database of the settings."""

    def __init__(self) -> None:
        call_command("migrate", verbosity=0)
        owner = User.objects.create_user(email="owner@example.com", display_name="Owner")
        caller = Caller(kind="user", actor_id=owner.id)
        self.workspace_id = create_workspace(caller=caller, owner_user_id=owner.id, name="Scale").workspace.id
        accounts = ConnectedAccount.objects.filter(workspace_id=self.workspace_id)
        self.account_ids = list(accounts.values_list("pk", flat=True))
        add_slots_and_series(self.workspace_id)

    def load(self, first: int, last: int, *, newest: int, report: Callable[[int], None] | None = None) -> None:
        """Create groups of these numbers (tests/bench/history.py), `newest` from now; with `report`, millions of them."""
        what = {
            "workspace_id": self.workspace_id,
            "account_ids": self.account_ids,
            "first": first,
            "last": last,
            "newest": newest,
        }
        if report:
            history.load_millions(report=report, **what)
        else:
            history.load(**what)  # type: ignore[arg-type]
        history.analyze()

    def seconds(self, group: int) -> dict[str, float]:
        """Return the best time of each read; `group` is the number of the one group that is read."""
        return {name: seconds_of(read) for name, read in self._reads(group).items()}

    def whole_tables(self, group: int) -> dict[str, list[str]]:
        """Return the large tables that each read scans completely."""
        return {name: whole_tables_read(read) for name, read in self._reads(group).items()}

    def _reads(self, group: int) -> dict[str, Read]:
        return reads(system_caller(self.workspace_id), self.workspace_id, history.group_id(group))
