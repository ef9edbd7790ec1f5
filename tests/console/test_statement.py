"""The console's page of a workspace's month, and corrections by two operators in the console."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from billing import services
from billing.models import Correction, LedgerEntry, MonthCounter
from tests.billing.holds import hold_costs
from tests.billing.rows import charges
from tests.console.operators import act
from tests.people import as_user, console, sign_in_here
from workspaces.models import User, Workspace


@pytest.fixture
def operator(db: None) -> Client:
    return console()


@pytest.fixture
def colleague(db: None) -> Client:
    browser = Client()
    sign_in_here(browser, User.objects.create_superuser("colleague"))
    return browser


@pytest.fixture
def spender(workspace: Workspace) -> Workspace:
    """A workspace with ten cents of free credit that has published two posts this month, failed one and scheduled one."""
    Workspace.objects.filter(pk=workspace.pk).update(free_monthly_credit_cents=10, monthly_spend_cap_cents=1000)
    workspace.refresh_from_db()
    with transaction.atomic():
        for number, platform in enumerate(("x", "x", "mastodon", "mastodon")):
            held = charges(f"tgt_{number}", cents=6, platform=platform)
            hold_costs(workspace_id=workspace.pk, agent_id=None, charges=held, due=timezone.now())
        services.settle_holds_as_spent(target_ids=["tgt_0", "tgt_1"])
        services.release_holds(target_ids=["tgt_2"], failed=True)
    return workspace


def statement_of(workspace: Workspace) -> str:
    return reverse("admin:statement", args=[workspace.pk])


def propose(operator: Client, workspace: Workspace, cents: int = 5, *, kind: str = "credit") -> str:
    """Send the page's form and return the message."""
    answer = operator.post(statement_of(workspace), {"kind": kind, "cents": cents, "reason": "An <b>outage</b>"}, follow=True)
    assert answer.status_code == 200
    return " ".join(str(message) for message in answer.context["messages"])


def settled(workspace: Workspace) -> int:
    return MonthCounter.objects.get(holder_id=workspace.pk).settled_cents


def test_a_statement_shows_what_the_month_cost(operator: Client, spender: Workspace) -> None:
    page = operator.get(statement_of(spender))
    statement = page.context["statement"]

    assert [(each.platform, each.published, each.cents) for each in statement.platforms] == [("x", 2, 12)]
    assert (statement.ever_reserved_cents, statement.held_cents) == (24, 6)
    assert (statement.released_count, statement.released_cents) == (1, 6)
    assert (statement.total_cents, statement.cents_beyond_free_credit) == (12, 2)
    change = operator.get(reverse("admin:workspaces_workspace_change", args=[spender.pk]))
    assert f'href="{statement_of(spender)}"' in change.content.decode()


def test_a_correction_needs_two_operators(operator: Client, colleague: Client, spender: Workspace) -> None:
    assert "until another operator approves" in propose(operator, spender)
    correction = Correction.objects.get()
    front = operator.get("/admin/").content.decode()
    assert "Corrections to approve</a></th><td>1</td>" in front
    [refused] = act(operator, "approve", correction)
    assert "cannot approve" in refused
    assert settled(spender) == 12

    assert act(colleague, "approve", correction) == [f"Approved: {correction.pk}."]
    assert settled(spender) == 7
    page = colleague.get(statement_of(spender))
    assert (page.context["statement"].total_cents, page.context["statement"].cents_beyond_free_credit) == (7, 0)
    assert "An &lt;b&gt;outage&lt;/b&gt;" in page.content.decode()
    [again] = act(colleague, "approve", correction)
    assert "already approved" in again
    assert LedgerEntry.objects.filter(kind="adjust").count() == 1


def test_a_correction_can_be_rejected(operator: Client, colleague: Client, spender: Workspace) -> None:
    propose(operator, spender, kind="charge")
    correction = Correction.objects.get()

    assert act(colleague, "withdraw", correction) == [f"Withdrawn: {correction.pk}."]
    assert settled(spender) == 12
    assert operator.get(statement_of(spender)).context["statement"].total_cents == 12


@pytest.mark.parametrize("cents", [-1, 0, 13, "many"])
def test_a_credit_of_nothing_or_too_much_is_refused(operator: Client, spender: Workspace, cents: int) -> None:
    propose(operator, spender, cents)

    assert not Correction.objects.exists()


def test_the_statement_can_be_downloaded(operator: Client, colleague: Client, spender: Workspace) -> None:
    propose(operator, spender)
    act(colleague, "approve", Correction.objects.get())
    answer = operator.get(statement_of(spender), {"format": "csv"})
    lines = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert [(line["line"], line["id"], line["cents"]) for line in lines[:4]] == [
        ("published", "tgt_0", "6"),
        ("published", "tgt_1", "6"),
        ("released", "tgt_2", "6"),
        ("correction", Correction.objects.get().pk, "-5"),
    ]
    sums = {line["line"]: int(line["cents"]) for line in lines if line["line"].startswith("sum_")}
    assert (sums["sum_reserved"], sums["sum_total"], sums["sum_due"]) == (24, 7, 0)


def test_the_customer_sees_the_correction_in_the_usage(operator: Client, colleague: Client, spender: Workspace) -> None:
    propose(operator, spender)
    act(colleague, "approve", Correction.objects.get())
    browser = Client()
    sign_in_here(browser, spender.owner_user)
    month = f"period_start={timezone.now():%Y-%m-01T00:00:00Z}&workspace_monthly_spend_cap_cents=1000"
    usage = as_user(spender.owner_user).get(f"/usage?workspace_id={spender.pk}&{month}")
    assert usage.json()["totals"]["by_platform"][0] == {
        "platform": "correction",
        "published": 0,
        "failed": 0,
        "spend_cents": -5,
    }
    html = browser.get(reverse("usage", kwargs={"workspace_id": spender.pk})).content.decode()

    assert "An &lt;b&gt;outage&lt;/b&gt;" in html
    assert "−$0.05" in html
    assert '<strong class="figure">$0.07</strong> spent' in html


def test_months_and_people_without_rights(operator: Client, spender: Workspace) -> None:
    at = datetime(2020, 2, 1, tzinfo=UTC)
    assert operator.get(statement_of(spender), {"month": "2020-02"}).context["statement"].month == at.date()
    for month in ("0001-01", "9999-12", "soon", "2020-13"):
        assert operator.get(statement_of(spender), {"month": month}).context["statement"].total_cents == 12
    assert operator.get(reverse("admin:statement", args=["wrk_none"])).status_code == 404
    User.objects.filter(username="operator").update(is_superuser=False)
    assert operator.get(statement_of(spender)).status_code == 403
    assert operator.post(statement_of(spender), {"kind": "credit", "cents": 1, "reason": "x"}).status_code == 403
    assert not Correction.objects.exists()
