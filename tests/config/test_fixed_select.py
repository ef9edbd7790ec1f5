"""A FixedSelect returns the same rows as a queryset."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from agents.models import Agent, ApiKey
from config.db.fixed_select import FixedSelect
from posts.models import PostGroup, PostTarget
from tests import factories
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.rows import create
from workspaces.models import Workspace

keys_of = FixedSelect(ApiKey, where=("workspace_id", "name"), join=("agent", "workspace"), order_by="id")


def columns(row: Model) -> dict[str, Any]:
    """All stored values of a row."""
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    return factories.AgentFactory(workspace=workspace, account_allowlist=["acc_1"])


@pytest.fixture
def keys(workspace: Workspace, agent: Agent) -> list[ApiKey]:
    """One key of the workspace and one of its agent; another workspace has a key with the same name."""
    factories.workspace_key(factories.WorkspaceFactory())
    factories.workspace_key(workspace)
    factories.agent_key(agent)
    ApiKey.objects.update(name="A key", allowed_networks=["10.0.0.0/8"])
    return list(ApiKey.objects.select_related("agent", "workspace").filter(workspace=workspace).order_by("id"))


def test_the_rows_are_those_of_the_queryset(workspace: Workspace, agent: Agent, keys: list[ApiKey]) -> None:
    for _ in range(2):  # the second time its SQL is known
        read = keys_of(workspace.id, "A key")
        assert [columns(key) for key in read] == [columns(key) for key in keys]
        assert [columns(key.workspace) for key in read] == [columns(key.workspace) for key in keys]
        assert [key.agent and columns(key.agent) for key in read] == [None, columns(agent)]


def test_every_kind_of_column_has_the_value_of_the_queryset(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount
) -> None:
    """Encrypted columns, JSON, times, numbers, booleans and null."""
    other = factories.AccountFactory(workspace=workspace, credentials={"token": "secret"})
    create(api, account, other, text="Ω \N{GRINNING FACE} %s", metadata={"run": "7"})
    for model in (ConnectedAccount, PostGroup, PostTarget):
        for row in model._default_manager.all():
            [read] = FixedSelect(model, where=("id",))(row.pk)
            assert columns(read) == columns(row)
            [stored] = model._default_manager.filter(pk=row.pk).values_list(*columns(row))
            assert FixedSelect(model, where=("id",)).named_tuples(row.pk) == [(stored,)]


def test_one_statement_reads_complete_rows(
    workspace: Workspace, keys: list[ApiKey], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        first, second = keys_of(workspace.id, "A key")
        assert (first.workspace.name, first.agent, first.get_deferred_fields()) == (workspace.name, None, set())
        assert first.workspace is second.workspace


def test_a_row_that_was_read_can_be_saved(workspace: Workspace, keys: list[ApiKey]) -> None:
    [first, _] = keys_of(workspace.id, "A key")
    first.prefix = "changed"
    first.save()
    assert ApiKey.objects.filter(prefix="changed").count() == 1


def test_values_are_never_part_of_the_sql(workspace: Workspace, keys: list[ApiKey]) -> None:
    assert keys_of(workspace.id, "' OR ''='") == []
    assert keys_of(factories.WorkspaceFactory().id, "A key") == []
    assert len(keys_of(workspace.id, "A key")) == 2


def test_first_is_none_without_rows(db: None) -> None:
    assert keys_of.first("wrk_none", "A key") is None


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no prepared statements.")
@pytest.mark.parametrize(("threshold", "prepared"), [(5, 1), (None, 0)], ids=["by default", "switched off"])
def test_postgresql_prepares_the_statement_once(db: None, threshold: int | None, prepared: int) -> None:
    connection.ensure_connection()
    connection.connection.prepare_threshold = threshold
    select = FixedSelect(ApiKey, where=("id", "name", "prefix"))
    for number in range(6):
        assert select(f"key_{number}", "name", "prefix") == []
    with connection.cursor() as cursor:
        cursor.execute('SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE \'%"name" = $2%"prefix" = $3%\'')
        assert cursor.fetchone() == (prepared,)


@pytest.mark.django_db(transaction=True)
def test_each_thread_uses_its_own_connection(workspace: Workspace, keys: list[ApiKey]) -> None:
    assert in_threads(4, lambda _: keys_of(workspace.id, "A key")) == [keys] * 4


def test_a_subquery_is_read_with_the_rows(
    workspace: Workspace, keys: list[ApiKey], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Its values come first. Without rows, its value is not known."""
    counted = FixedSelect(
        ApiKey, where=("workspace_id",), subquery=lambda: "SELECT count(*) FROM agents_apikey WHERE name <> %s"
    )
    with django_assert_num_queries(1):
        rows, number = counted.rows_and_subquery_value("Another key", workspace.id)
    assert {row.id for row in rows} == {key.id for key in keys}
    assert number == 3
    assert counted.rows_and_subquery_value("Another key", "wrk_missing") == ([], None)
