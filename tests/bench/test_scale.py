"""With a long history the hot reads use only indexes (PostgreSQL; `make scale` tests ten million targets)."""

from __future__ import annotations

import pytest
from django.db import connection

from config.api.caller import system_caller
from tests import factories
from tests.bench import history
from tests.bench.reads import add_slots_and_series, reads, whole_tables_read
from workspaces.models import Workspace

GROUPS = 20_000


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are PostgreSQL's")
def test_no_frequent_read_scans_a_whole_table(workspace: Workspace) -> None:
    accounts = [account.id for account in factories.AccountFactory.create_batch(2, workspace=workspace)]
    add_slots_and_series(workspace.id)
    # Five minutes apart, a day is so small a part of the history that an index is always the cheapest plan.
    history.load(workspace_id=workspace.id, account_ids=accounts, first=1, last=GROUPS, seconds_apart=300)
    history.analyze()
    middle = history.group_id(GROUPS // 2)

    found = {name: whole_tables_read(read) for name, read in reads(system_caller(workspace.id), workspace.id, middle).items()}

    assert found == {name: [] for name in found}
