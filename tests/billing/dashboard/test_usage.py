"""The usage page: a month's figures and charts, caps, and the CSV of charges."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime
from typing import Any

import pytest
import time_machine
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from agents.models import Agent
from auditlog.models import AuditEntry
from billing import services
from billing.caps import SpendCapStatus
from billing.dashboard.charts import BudgetBar, day_bars
from billing.usage_selectors import DayUsage, spent_ledger_entries_of_month
from config.api.caller import Caller
from config.db.ids import new_id
from tests import factories
from tests.billing.rows import APRIL, MARCH, make_agent
from tests.billing.test_usage import spend
from tests.pages import Pages, form_of, has_form, words
from workspaces.models import User, Workspace


@pytest.fixture
def workspace(owner: User) -> Workspace:
    """A workspace with 100 cents of free credit and a cap of 400 cents."""
    made: Workspace = factories.WorkspaceFactory.create(owner_user=owner, monthly_spend_cap_cents=400)
    return made


@pytest.fixture
def pages(clock: time_machine.Traveller, workspace: Workspace, owner: User) -> Pages:
    """The owner's pages in March."""
    return Pages(workspace, owner, csrf=True)


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    return make_agent(workspace)


def rows_under(page: Any, heading: str) -> list[str]:
    """Return the text of the table rows below a heading."""
    table = page.content.decode().partition(f'id="{heading}"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in table.split("<tr>")[1:]]


def targets(number: int) -> list[str]:
    return [new_id("tgt") for _ in range(number)]


def test_a_month_without_posts_shows_a_message(pages: Pages) -> None:
    shown = words(pages.get("usage"))

    assert "$0.00 spent, of $5.00" in shown
    assert "Nothing was published in March 2027." in shown
    assert "free beta" in shown
    assert "Subscri" not in shown


def test_usage_is_shown_by_day_platform_and_agent(pages: Pages, workspace: Workspace, agent: Agent) -> None:
    spend(workspace, *targets(3), agent=agent, platform="mastodon", cents=20, due=datetime.fromisoformat("2027-03-02T23:59Z"))
    spend(workspace, *targets(2), cents=5, due=datetime.fromisoformat("2027-03-31T12:00Z"))
    spend(workspace, *targets(1), cents=7, end=services.release_holds, failed=True)
    spend(workspace, *targets(1), cents=30, end=None)
    spend(workspace, *targets(1), cents=90, due=APRIL)

    page = pages.get("usage")

    assert "$0.70 spent, $0.30 held for posts that are not published yet, of $5.00" in words(page)
    assert rows_under(page, "by-day") == ["2 March 3 $0.60", "31 March 2 $0.10"]
    assert rows_under(page, "by-platform") == ["Bluesky 2 1 $0.10", "Mastodon 3 0 $0.60"]
    assert rows_under(page, "by-agent") == ["Herald 3 0 $0.60", "People and API keys 2 1 $0.10"]
    columns = re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="[\d.]+" height="([\d.]+)"><title>', page.content.decode())
    assert columns == ["100.0", "16.7"]


def test_months_with_usage_can_be_selected(pages: Pages, workspace: Workspace) -> None:
    spend(workspace, *targets(1), cents=90, due=APRIL)

    march, april = pages.get("usage"), pages.get("usage", query={"month": "2027-04"})
    offered = re.findall(r'<option value="(\d{4}-\d\d)"', march.content.decode())

    assert offered == ["2027-04", "2027-03"]
    assert "$0.90 spent" in words(april)
    assert "as currently set" in words(april)
    for odd in ("2027-13", "0001-01", "9999-12", "x"):
        assert '<option value="2027-03" selected>' in pages.get("usage", query={"month": odd}).content.decode()


@pytest.mark.parametrize(
    ("spent", "held", "cap", "said"),
    [
        (300, 90, 400, None),
        (300, 100, 400, "$4.00 of this month's $5.00 are spent or held."),
        (400, 100, 400, "This month's budget is used up."),
        (400, 100, 300, "More is spent or held than the caps allow."),
    ],
)
def test_the_owner_is_warned_before_the_budget_is_used_up(
    pages: Pages, workspace: Workspace, spent: int, held: int, cap: int, said: str | None
) -> None:
    spend(workspace, *targets(1), cents=spent)
    spend(workspace, *targets(1), cents=held, end=None)
    Workspace.objects.update(monthly_spend_cap_cents=cap)

    page = pages.get("usage")

    warned = re.findall(r'<p class="message (?:error|warning)">([^<]*)', page.content.decode())
    assert [_plain(each)[: len(said or "")] for each in warned] == ([said] if said else [])


def _plain(text: str) -> str:
    return text.replace("&#x27;", "'")


def test_caps_can_be_changed_on_the_usage_page(pages: Pages, workspace: Workspace) -> None:
    address = pages.address("usage-caps")
    form = form_of(pages.get("usage"), address)
    assert form["spend_cap"] == "4.00"

    wrong = pages.post("usage-caps", {**form, "spend_cap": "a lot"})
    assert (wrong.status_code, form_of(wrong, address)["spend_cap"]) == (422, "a lot")
    assert "Enter a number." in words(wrong)
    page = pages.post("usage-caps", {**form, "spend_cap": "25", "url_post_cap": "3"}, follow=True)

    assert "of $26.00" in words(page)
    workspace.refresh_from_db()
    assert (workspace.monthly_spend_cap_cents, workspace.monthly_social_url_post_cap) == (2500, 3)
    assert AuditEntry.objects.get().operation == "workspaces.update_caps"


def test_the_csv_contains_the_months_charges(pages: Pages, workspace: Workspace, agent: Agent) -> None:
    [late], [early] = targets(1), targets(1)
    spend(workspace, late, agent=agent, cents=20, due=datetime.fromisoformat("2027-03-31T12:00Z"))
    spend(workspace, early, cents=5, due=datetime.fromisoformat("2027-03-01T00:00Z"))
    spend(workspace, *targets(1), cents=7, end=services.release_holds, failed=True)
    spend(workspace, *targets(1), cents=90, due=APRIL)

    answer = pages.get("usage-charges", query={"month": "2027-03"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode(), newline="")))

    assert answer["Content-Disposition"] == f'attachment; filename="charges-{workspace.id}-2027-03.csv"'
    columns = ("day", "platform", "agent_id", "target_id", "kind", "cents")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("2027-03-01", "bluesky", "", early, "settle", "5"),
        ("2027-03-31", "bluesky", agent.id, late, "settle", "20"),
    ]


def test_members_can_read_and_strangers_get_404(
    clock: time_machine.Traveller, workspace: Workspace, teammate: User, stranger: User
) -> None:
    theirs, strangers = Pages(workspace, teammate), Pages(workspace, stranger)
    caps = {"spend_cap": "1", "url_post_cap": "1"}

    assert not has_form(theirs.get("usage"), theirs.address("usage-caps"))
    assert theirs.get("usage-charges").status_code == 200
    theirs.post("usage-caps", caps)
    assert strangers.post("usage-caps", caps).status_code == 404
    assert strangers.get("usage-charges").status_code == 404
    workspace.refresh_from_db()
    assert workspace.monthly_spend_cap_cents == 400


@pytest.mark.parametrize("name", ["usage-caps", "usage-checkout", "usage-portal"])
def test_forms_need_a_csrf_token(pages: Pages, name: str) -> None:
    assert pages.post(name, {"spend_cap": "1", "url_post_cap": "1"}).status_code == 403
    assert pages.get(name).status_code == 405
    assert not AuditEntry.objects.exists()


def test_the_number_of_queries_does_not_depend_on_usage(
    pages: Pages, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        agent = make_agent(workspace)
        spend(workspace, *targets(2), agent=agent, cents=1, due=MARCH.replace(day=number + 1))

    with django_assert_max_num_queries(17):
        page = pages.get("usage")
    assert len(page.content) < 50_000


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads a small table whole.")
def test_the_query_of_a_months_charges_uses_the_index(workspace: Workspace, owner: User) -> None:
    rows = spent_ledger_entries_of_month(caller=Caller("user", owner.id), workspace_id=workspace.id, at=MARCH)

    assert "ledger_spent (workspace_id=? AND month=?)" in rows.explain()


@pytest.mark.parametrize(
    ("free", "cap", "spent", "held", "drawn"),
    [
        (100, 400, 250, 50, (50.0, 60.0, 20.0)),
        (100, 0, 100, 0, (100.0, 100.0, 99.6)),
        (100, 100, 300, 100, (75.0, 100.0, 25.0)),  # the cap was lowered below what is spent
        (0, 0, 0, 0, (0.0, 0.0, 0.0)),
    ],
)
def test_the_budget_bar_never_exceeds_100_percent(
    free: int, cap: int, spent: int, held: int, drawn: tuple[float, float, float]
) -> None:
    bar = BudgetBar.from_cap_status(SpendCapStatus(cap, free, spent, held))
    assert (bar.spent, bar.used, bar.free) == drawn


def test_the_smallest_day_is_visible_in_the_chart() -> None:
    days = [DayUsage(MARCH.date().replace(day=number), 1, cents) for number, cents in ((1, 10_000), (2, 1), (3, 0))]

    assert [(bar.top, bar.height) for bar in day_bars(days)] == [(0.0, 100.0), (98.5, 1.5), (100.0, 0.0)]
