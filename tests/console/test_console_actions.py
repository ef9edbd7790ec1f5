"""Actions of the operators' console: each asks before it changes something, and leads back to the page that one left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from auditlog.models import AuditEntry
from tests.console.console_rows import one_of_each
from tests.people import console
from workspaces.models import User, Workspace

LISTS = admin.site._registry
ASKED_BY_DJANGO = "delete_selected"


def actions() -> Iterator[Any]:
    for model, table in LISTS.items():
        for action in table.actions or ():
            yield pytest.param(model, action, id=f"{model._meta.label}-{action}")


@pytest.fixture
def operator(db: None, settings: Any) -> Client:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # the schedule's tasks can be run only with a broker
    return console()


@pytest.mark.parametrize(("model", "action"), [*actions()])
def test_every_action_says_what_it_will_do_and_changes_nothing_before(
    operator: Client, workspace: Workspace, model: type[Model], action: str
) -> None:
    person = User.objects.get(username="operator")
    row = next(each for each in one_of_each(workspace, person) if type(each) is model)
    operator.force_login(User.objects.get(pk=person.pk))  # its password has changed
    before, entries = list(model._default_manager.values()), AuditEntry.objects.count()
    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    page = operator.post(path, {"action": action, "_selected_action": row.pk, "index": "0"})

    assert page.status_code == 200
    assert page.context["warning"].endswith(".")
    assert "This concerns 1 " in page.content.decode()
    assert list(model._default_manager.values()) == before
    assert AuditEntry.objects.count() == entries


def test_an_action_on_a_rows_page_leads_back_to_that_page(operator: Client, workspace: Workspace) -> None:
    filters = "status__exact=active&q=" + workspace.name[:3]
    row, rows = (
        reverse("admin:workspaces_workspace_change", args=[workspace.pk]),
        reverse("admin:workspaces_workspace_changelist"),
    )
    page = operator.get(row, {"_changelist_filters": filters})
    fields = {"action": "pause", "_selected_action": workspace.pk, "index": "0", "_changelist_filters": filters}
    assert page.context["changelist_filters"] == filters
    assert f'name="from_row" value="{workspace.pk}"' in page.text
    asking = operator.post(rows, {**fields, "from_row": workspace.pk})

    there = reverse("admin:workspaces_workspace_change", args=[quote(workspace.pk)])
    came_from = f"{there}?{urlencode({'_changelist_filters': filters})}"
    assert asking.context["came_from"] == came_from
    assert (asking.context["from_row"], asking.context["changelist_filters"]) == (workspace.pk, filters)
    answer = operator.post(rows, {**fields, "from_row": workspace.pk, "confirmed": "yes"})
    assert answer["Location"] == came_from
    workspace.refresh_from_db()
    assert workspace.status == "paused"
