"""Benchmarks the dashboard's pages in a workspace with 10,000 posts: the time until a page is there, and its weight.

The weight of a page is what a browser without a cache downloads for it: the page itself and the service's stylesheets,
scripts and pictures that it names, as they are sent (compressed).
"""

from __future__ import annotations

import re
import statistics
import time
from urllib.parse import urljoin

import requests

from tests.bench.measure import Row, at_most
from tests.bench.service import Service

POSTS, SECONDS_APART = 10_000, 3000  # about 29 posts a day, over most of a year
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SLOTS = [{"weekday": day, "time": time} for day in DAYS for time in ("09:00", "12:30", "17:00")]  # of two accounts
TURNS = 9  # requests for each page, of which the first warms up
LOAD = (
    "from tests.bench.history import load; "
    "load(workspace_id={workspace_id!r}, account_ids={accounts!r}, first=1, last={posts}, seconds_apart={apart})"
)
PAGES = (
    *("", "/calendar", "/calendar?view=week", "/calendar?view=day", "/calendar?view=list", "/posts", "/posts?q=number+77"),
    *("/compose", "/approvals", "/missed", "/series", "/accounts", "/media", "/agents", "/api-keys", "/webhooks", "/usage"),
    *("/audit-log", "/settings", "/members", "/settings/notices", "/snippets", "/files"),
)
OWN_FILE = re.compile(rb'(?:href|src)="(/(?:static|media|dashboard)/[^"]+\.(?:css|js|svg|png|webp|woff2)[^"]*)"')


def rows(service: Service) -> list[Row]:
    """Benchmark all pages; the rows name the slowest one and the heaviest one."""
    given = {"workspace_id": service.workspace_id, "accounts": service.accounts[:2], "posts": POSTS, "apart": SECONDS_APART}
    service.stack.run("manage.py", "shell", "--no-imports", "-c", LOAD.format(**given))
    for account_id in service.accounts[:2]:
        service.call("PUT", f"/accounts/{account_id}/slots", {"slots": SLOTS, "timezone": "Europe/Berlin"})
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Accept-Encoding"] = "gzip"
        session.get(service.stack.demo["sign_in_url"], timeout=60).raise_for_status()
        home = f"{service.stack.base_url}/dashboard/workspaces/{service.workspace_id}"
        times = {page: _median_ms(session, home + page) for page in PAGES}
        weights = {page: _weight_kb(session, home + page) for page in PAGES}
    slowest, heaviest = max(times, key=lambda page: times[page]), max(weights, key=lambda page: weights[page])
    about = f"{len(PAGES)} pages with {POSTS:,} posts"
    return [
        at_most(f"{about}: the slowest, ms", f"{times[slowest]:.0f} ms: {slowest or '/'}", times[slowest], 100),
        at_most(f"{about}: the heaviest, KB", f"{weights[heaviest]:.0f} KB: {heaviest or '/'}", weights[heaviest], 150),
    ]


def _median_ms(session: requests.Session, url: str) -> float:
    """Return the median time in milliseconds from the request to the end of the page."""
    times = []
    for _ in range(TURNS):
        began = time.perf_counter()
        answer = session.get(url, timeout=60)
        times.append(time.perf_counter() - began)
        if answer.status_code != 200 or answer.url != url:
            raise RuntimeError(f"{url}: {answer.status_code} at {answer.url}")
    return 1000 * statistics.median(times[1:])


def _weight_kb(session: requests.Session, url: str) -> float:
    """Return the weight of a page in kilobytes (1,000 bytes)."""
    page = session.get(url, timeout=60)
    files = {urljoin(url, name.decode().replace("&amp;", "&")) for name in OWN_FILE.findall(page.content)}
    return sum(_sent_bytes(session, each) for each in {url, *files}) / 1000


def _sent_bytes(session: requests.Session, url: str) -> int:
    """Return how many bytes of a file are sent, before they are decompressed."""
    with session.get(url, timeout=60, stream=True) as answer:
        answer.raise_for_status()
        return len(answer.raw.read(decode_content=False))
