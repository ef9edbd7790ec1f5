"""Helpers to create series and to run the worker loop that makes their posts."""

from __future__ import annotations

from typing import Any

from accounts.models import ConnectedAccount
from config.jobs.claims import unclaimed_due_rows
from posts.models import PostGroup, Series
from posts.series_worker_loop import SeriesLoop
from tests.conftest import ApiClient
from tests.posts.rows import body_for

MAX_RUNS = 100
# From Monday 8 March 2027; the tests' clock begins on Wednesday 10 March 2027 at noon UTC.
DAILY = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-08T09:00", "timezone": "Europe/Berlin"}


def series_body(*accounts: ConnectedAccount, post: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """The request body of a series of posts to these accounts: by default, every day at 09:00 in Berlin."""
    return {"post": {**body_for(*accounts), **(post or {})}, **DAILY, **fields}


def create_series(api: ApiClient, *accounts: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    """Create a series through the API; returns its body."""
    answer = api.post("/series", series_body(*accounts, **fields))
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["series"])


def read_series(api: ApiClient, series: dict[str, Any]) -> dict[str, Any]:
    """The current body of a series."""
    return dict(api.get(f"/series/{series['id']}").json()["series"])


def change(api: ApiClient, series: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Change a series through the API; returns its body."""
    answer = api.request("PATCH", f"/series/{series['id']}", changes)
    assert answer.status_code == 200, answer.content
    return dict(answer.json()["series"])


def run_series_loop() -> None:
    """Run the worker loop of series until none is due."""
    loop = SeriesLoop()
    loop.run_once()  # also finds series of agents that were revoked
    for _ in range(MAX_RUNS):
        if not unclaimed_due_rows(Series.objects.all()).exists():
            return
        loop.run_once()
    raise AssertionError(f"There are still due series after {MAX_RUNS} runs.")


def made_posts(series: dict[str, Any]) -> list[PostGroup]:
    """The posts that the series has made, in the order of their times."""
    return list(PostGroup.objects.filter(series_id=series["id"]).order_by("scheduled_at", "pk"))


def days_made(series: dict[str, Any], *, status: str | None = None) -> list[str]:
    """The UTC times for which the series has made posts, such as `03-11 08:00`."""
    return [f"{post.scheduled_at:%m-%d %H:%M}" for post in made_posts(series) if status in (None, post.status)]
