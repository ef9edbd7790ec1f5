from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction

from billing import selectors, services
from billing.errors import SpendCapExceeded
from billing.models import LedgerEntry
from tests.billing.holds import hold_costs
from tests.billing.rows import MARCH, charges, day_of, make_agent, make_workspace, month_of, totals

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(number: int, work: Callable[[int], None]) -> list[str]:
    """Run `work` in several threads at once, each in its own transaction; returns the results."""
    gate = Barrier(number)

    def run(n: int) -> str:
        try:
            connection.ensure_connection()
            gate.wait(30)
            with transaction.atomic():
                work(n)
            return "done"
        except SpendCapExceeded:
            return "refused"
        finally:
            connection.close()

    with ThreadPoolExecutor(number) as threads:
        return sorted(threads.map(run, range(number)))


@pytest.mark.parametrize("month_was_used", [False, True])
def test_forty_concurrent_holds_do_not_overspend(month_was_used: bool) -> None:
    workspace = make_workspace(free=15, cap=10)
    if month_was_used:
        with transaction.atomic():
            hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_0", cents=0), due=MARCH)

    ends = at_once(
        40,
        lambda n: hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges(f"tgt_race_{n}", cents=5), due=MARCH),
    )

    assert (ends.count("done"), ends.count("refused")) == (5, 35)
    assert month_of(workspace) == (25, 0, 0)
    assert selectors.find_wrong_month_counters() == []


def test_concurrent_holds_respect_the_caps_of_agent_and_workspace() -> None:
    workspace = make_workspace(free=30)
    narrow, wide = make_agent(workspace, cap=10), make_agent(workspace)

    ends = at_once(
        24,
        lambda n: hold_costs(
            workspace_id=workspace.pk,
            agent_id=(narrow if n % 2 else wide).pk,
            charges=charges(f"tgt_{n}", cents=5),
            due=MARCH,
        ),
    )

    assert ends.count("done") == 6
    assert month_of(workspace) == (30, 0, 0)
    assert month_of(narrow)[0] <= 10
    assert month_of(narrow)[0] + month_of(wide)[0] == 30
    assert day_of(narrow) + day_of(wide) == 6
    assert selectors.find_wrong_month_counters() == []


def test_concurrent_settles_and_releases_close_a_hold_once() -> None:
    workspace = make_workspace()
    with transaction.atomic():
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)

    def end(n: int) -> None:
        if n % 2:
            services.settle_holds_as_spent(target_ids=["tgt_1"])
        else:
            services.release_holds(target_ids=["tgt_1"], failed=True)

    ends = at_once(16, end)

    assert ends == ["done"] * 16
    assert LedgerEntry.objects.count() == 2
    assert month_of(workspace) in [(0, 10, 0), (0, 0, 0)]
    assert sum(row[2] + row[3] for row in totals()) == 1
    assert selectors.find_wrong_month_counters() == []


def test_concurrent_holds_and_releases_do_not_deadlock() -> None:
    workspace = make_workspace(free=1000)
    agents = [make_agent(workspace), make_agent(workspace)]
    callers = [agents[0].pk, agents[1].pk, None]
    with transaction.atomic():
        for n in range(18):
            held = charges(f"tgt_{n}")
            hold_costs(workspace_id=workspace.pk, agent_id=callers[n % 3], charges=held, due=MARCH)

    def cross(n: int) -> None:
        if n >= 18:
            held = charges(f"tgt_{n}", f"tgt_{n}b")
            hold_costs(workspace_id=workspace.pk, agent_id=callers[n % 3], charges=held, due=MARCH)
        elif n % 2:
            services.settle_holds_as_spent(target_ids=[f"tgt_{n}"])
        else:
            services.release_holds(target_ids=[f"tgt_{n}"], failed=True)

    ends = at_once(30, cross)

    assert ends == ["done"] * 30
    assert month_of(workspace) == (240, 90, 0)
    assert day_of(agents[0]) + day_of(agents[1]) == 16 + 6
    assert selectors.find_wrong_month_counters() == []
