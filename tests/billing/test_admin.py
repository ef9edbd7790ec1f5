from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from billing import services
from billing.models import BillingAlarm, LedgerEntry, UsageReport
from billing.services.alarms import open_or_update_alarm
from tests.billing.holds import hold_costs
from tests.billing.processor_events import send_and_process
from tests.billing.rows import MARCH, charges, make_agent, make_workspace
from tests.billing.usage_reports import spend
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.people import console
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    return console()


def today() -> str:
    """Return the search term for the current day. Growing tables are searched by agent only within one day."""
    return f"{timezone.now():%Y-%m-%d}"


@pytest.mark.parametrize("table", ["ledgerentry", "monthcounter", "daycounter", "usagetotal"])
def test_operators_find_ledger_rows_by_id_and_cannot_change_them(operator: Client, table: str) -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)
    services.settle_holds_as_spent(target_ids=["tgt_1"])

    words = f"{agent.pk} {today()}" if table == "ledgerentry" else agent.pk
    found = operator.get(f"/admin/billing/{table}/", {"q": words})
    missed = operator.get(f"/admin/billing/{table}/", {"q": "agt_other"})

    assert (found.status_code, missed.status_code) == (200, 200)
    assert found.context["cl"].result_count == (2 if table == "ledgerentry" else 1)
    assert missed.context["cl"].result_count == 0
    assert operator.get(f"/admin/billing/{table}/add/").status_code == 403


def test_a_ledger_entry_is_read_only(operator: Client) -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    entry = LedgerEntry.objects.get()
    page = f"/admin/billing/ledgerentry/{entry.pk}/"

    assert operator.get(f"{page}change/").status_code == 200
    assert operator.post(f"{page}change/", {"cents": "1"}).status_code == 403
    assert operator.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert list(LedgerEntry.objects.values_list("cents", flat=True)) == [10]


@pytest.mark.parametrize(
    ("table", "found_by"),
    [("subscription", "cus_9"), ("usagereport", "{report} cus_9"), ("processorevent", "evt_77"), ("billingalarm", "evt_77")],
)
def test_operators_see_processor_events_and_usage_reports(
    payer: Workspace, operator: Client, processor: FakePaymentProcessor, table: str, found_by: str
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    services.send_or_postpone_due_usage_reports()
    send_and_process("customer.subscription.created", {**processor.subscribe("cus_9")}, id="evt_77")
    open_or_update_alarm(BillingAlarm.Kind.EVENTS, "evt_77", "It had no effect.")

    found = operator.get(f"/admin/billing/{table}/", {"q": found_by.format(report=UsageReport.objects.values("pk")[0]["pk"])})

    assert found.status_code == 200
    assert found.context["cl"].result_count == 1
    assert operator.get(f"/admin/billing/{table}/add/").status_code == 403
