"""Prepared queries return the same rows as the plain querysets."""

from __future__ import annotations

from typing import Any

import pytest
from django.forms.models import model_to_dict
from pytest_django import DjangoAssertNumQueries

from agents.models import ApiKey
from config.api.scopes import SCOPES
from config.db.prepared import Prepared
from posts.models import PostTarget
from tests import factories
from tests.at_once import at_once
from workspaces.models import Workspace

own_keys = Prepared(
    lambda workspace_id, name: (
        ApiKey.objects.select_related("workspace", "agent")
        .filter(workspace_id=workspace_id, name=name, workspace__status="active")
        .order_by("-created_at")
    )
)


def keys_of(workspace: Workspace) -> list[ApiKey]:
    return own_keys(workspace.id, "A key")


@pytest.fixture
def keys(workspace: Workspace) -> list[ApiKey]:
    factories.workspace_key(factories.WorkspaceFactory())
    for _ in range(2):
        factories.workspace_key(workspace, SCOPES)
    ApiKey.objects.update(name="A key")
    return list(ApiKey.objects.select_related("workspace").filter(workspace=workspace).order_by("-created_at"))


def test_a_prepared_query_returns_the_rows_of_the_plain_queryset(workspace: Workspace, keys: list[ApiKey]) -> None:
    for _ in range(2):  # the second time its SQL is known
        read = keys_of(workspace)
        assert read == keys
        assert [model_to_dict(each) for each in read] == [model_to_dict(each) for each in keys]
        assert [model_to_dict(each.workspace) for each in read] == [model_to_dict(workspace)] * 2
        assert [each.agent for each in read] == [None, None]


def test_a_prepared_query_is_one_statement_without_deferred_fields(
    workspace: Workspace, keys: list[ApiKey], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        [first, _] = keys_of(workspace)
        assert (first.workspace.name, first.agent_id, first.get_deferred_fields()) == (workspace.name, None, set())


def test_other_values_return_other_rows(workspace: Workspace, keys: list[ApiKey]) -> None:
    assert keys_of(factories.WorkspaceFactory()) == []
    assert own_keys(workspace.id, "' OR ''='") == []
    assert len(keys_of(workspace)) == 2


def test_fixed_conditions_of_a_prepared_query_apply(workspace: Workspace, keys: list[ApiKey]) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")
    assert keys_of(workspace) == []


@pytest.mark.django_db(transaction=True)
def test_each_thread_uses_its_own_connection(workspace: Workspace, keys: list[ApiKey]) -> None:
    assert at_once(4, lambda _: keys_of(workspace)) == [keys] * 4


@pytest.mark.parametrize(
    "build",
    [
        lambda text: PostTarget.objects.filter(text__contains=text),
        lambda first, second: PostTarget.objects.filter(text=first),
    ],
    ids=["changed on the way", "not asked for"],
)
def test_a_value_that_is_not_in_the_conditions_raises_type_error(db: None, build: Any) -> None:
    count = build.__code__.co_argcount
    with pytest.raises(TypeError, match="used unchanged"):
        Prepared(build)(*["x"] * count)
