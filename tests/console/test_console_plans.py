"""The console's lists, searches and filters use indexes on large tables (PostgreSQL)."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import reverse

from config.pages.admin_search import DAY, ExactSearchAdmin
from tests import factories
from tests.bench import history
from tests.bench.history import LARGE
from tests.bench.reads import whole_tables_read
from tests.people import console
from workspaces.models import Workspace

GROUPS = 20_000
FILTERS = {
    "webhooks_delivery": ["status=dead_letter", "status=pending", "status=delivered", "waiting=due"],
    "posts_posttarget": ["waiting=yes", "waiting=due", "waiting=held"],
    "posts_postgroup": ["status__exact=unconfirmed", "status__exact=failed"],
}


def addresses() -> list[str]:
    """Return the URLs of each large table's list, its searches and its filters."""
    found = []
    for table in admin.site._registry.values():
        if isinstance(table, ExactSearchAdmin) and table.opts.db_table in LARGE:
            name = f"{table.opts.app_label}_{table.opts.model_name}"
            words = {kind: "2001-01-01" if kind == DAY else f"{kind}_01h455vb4p0000000000000001" for kind in table.found_by}
            words |= {"trace": "4bf92f3577b34da6a3ce929d0e0e4736"} if "trace" in words else {}
            asked = ["", *(f"q={word}" for word in words.values()), *FILTERS.get(name, [])]
            found += [f"{reverse(f'admin:{name}_changelist')}?{each}" for each in asked]
    return found


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the plans are PostgreSQL's")
def test_no_list_scans_a_large_table(workspace: Workspace) -> None:
    accounts = [account.id for account in factories.AccountFactory.create_batch(2, workspace=workspace)]
    history.load(workspace_id=workspace.id, account_ids=accounts, first=1, last=GROUPS)
    history.analyze()
    operator: Client = console()
    found = {address: whole_tables_read(lambda address=address: operator.get(address)) for address in addresses()}  # type: ignore[misc]

    assert len(found) > 30
    assert found == {address: [] for address in found}
