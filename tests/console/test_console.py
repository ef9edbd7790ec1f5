"""The operators' console: tables can be viewed and searched, are changed only by services, and show no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from config.console.admin_site import AuditedAdminMixin
from config.pages.admin import ReadOnlyAdmin
from config.pages.admin_search import ExactSearchAdmin
from tests import factories
from tests.console.console_rows import DIGEST, SECRET, make_group, one_of_each
from tests.people import console
from workspaces.models import Member, User, Workspace

TABLES = admin.site._registry
READ_ONLY = {model: table for model, table in TABLES.items() if isinstance(table, ReadOnlyAdmin)}
# Django's own and the libraries' bookkeeping. A session's key is itself what opens it.
NOT_SHOWN = {
    *("agents.DeviceAuthorization", "agents.OAuthToken"),  # hashes of secrets; clients and grants are shown
    "auth.Permission",
    "posts.ComposerDraft",  # what a person has not made a post of yet is for nobody else
    "posts.PublishingPreference",
    "posts.SavedFilter",
    "posts.SeriesOccurrence",  # its post group is shown
    "auth.Group",
    "axes.AccessAttemptExpiration",
    "contenttypes.ContentType",
    "django_celery_beat.PeriodicTasks",
    "sessions.Session",
}
MOST_QUERIES = 12


@pytest.fixture
def operator(db: None) -> Client:
    return console()


@pytest.fixture
def rows(operator: Client, workspace: Workspace) -> dict[type[Model], Model]:
    made = {type(row): row for row in one_of_each(workspace, User.objects.get(username="operator"))}
    operator.force_login(User.objects.get(username="operator"))  # its password has changed
    return made


def page_of(model: type[Model], kind: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{kind}", args=args)


def test_every_table_of_the_service_is_registered_and_audited() -> None:
    assert {model._meta.label for model in apps.get_models()} - {model._meta.label for model in TABLES} == NOT_SHOWN
    assert all(isinstance(table, AuditedAdminMixin) for table in TABLES.values())


def test_lists_and_rows_need_few_queries_no_count_and_show_no_secrets(
    operator: Client, rows: dict[type[Model], Model]
) -> None:
    assert rows.keys() == TABLES.keys()
    for model, row in rows.items():
        for path in (page_of(model, "changelist"), page_of(model, "change", row.pk)):
            with CaptureQueriesContext(connection) as asked:
                page = operator.get(path)
            html = page.content.decode()

            assert page.status_code == 200, path
            assert len(asked) <= MOST_QUERIES, path
            assert SECRET not in html, path
            assert DIGEST not in html, path
            if model in READ_ONLY:
                assert not [query for query in asked if "COUNT(" in query["sql"]], path
                assert str(row.pk) in html or page_of(model, "changelist") in html, path


def test_rows_cannot_be_added_changed_or_deleted_in_the_console(operator: Client, rows: dict[type[Model], Model]) -> None:
    for model in READ_ONLY:
        row, before = rows[model], list(model._default_manager.values())
        refused = [
            operator.post(page_of(model, "add"), {}).status_code,
            operator.post(page_of(model, "change", row.pk), {"status": "active"}).status_code,
        ]
        if model is not AccessAttempt:
            refused.append(operator.post(page_of(model, "delete", row.pk), {"post": "yes"}).status_code)

        assert set(refused) == {403}, model
        assert list(model._default_manager.values()) == before


def test_secrets_cannot_be_guessed_by_filters(operator: Client, rows: dict[type[Model], Model]) -> None:
    for path, lookup in (
        ("workspaces_user", "password__startswith"),
        ("agents_apikey", "token_sha256__startswith"),
        ("accounts_connectedaccount", "tokens__startswith"),
    ):
        answer = operator.get(reverse(f"admin:{path}_changelist"), {lookup: "c"})

        assert answer.status_code == 400


def searches() -> Iterator[Any]:
    for model, table in TABLES.items():
        if isinstance(table, ExactSearchAdmin):
            for kind in table.found_by:
                yield pytest.param(model, kind, id=f"{model._meta.label}-{kind}")


# Small tables are searched by more than their indexes hold.
SMALL = {"billing.Subscription", "social_django.UserSocialAuth", "admin.LogEntry"}


@pytest.mark.parametrize(("model", "kind"), [*searches()])
def test_searches_use_an_index_and_no_like(db: None, model: type[Model], kind: str) -> None:
    table = TABLES[model]
    assert isinstance(table, ExactSearchAdmin)
    word = {"trace": "4bf92f3577b34da6a3ce929d0e0e4736", "sha256": DIGEST, "day": "2027-03-10"}.get(kind, f"{kind}_1")
    found, _ = table.get_search_results(RequestFactory().get("/"), table.get_queryset(RequestFactory().get("/")), word)
    statement = str(found.order_by("-pk").query)

    assert not re.search(r"LIKE|UPPER|COUNT\(", statement)
    if connection.vendor == "sqlite" and model._meta.label not in SMALL:
        assert "SCAN" not in found.order_by("-pk").explain(), statement


def found(operator: Client, model: str, words: str) -> list[str]:
    page = operator.get(reverse(f"admin:{model}_changelist"), {"q": words})
    return [row.pk for row in page.context["cl"].result_list]


def test_rows_are_found_by_ids_traces_and_days(operator: Client, workspace: Workspace) -> None:
    account = factories.AccountFactory.create(workspace=workspace)
    agent = factories.AgentFactory.create(workspace=workspace)
    mine = make_group(workspace, account, 1, agent_id=agent.id)
    other = make_group(workspace, account, 2)
    group = "posts_postgroup"

    assert found(operator, group, mine.id) == [mine.id]
    assert found(operator, group, other.trace_id) == [other.id]
    assert found(operator, group, workspace.id) == [other.id, mine.id]
    assert found(operator, group, f"{workspace.id} {agent.id}") == [mine.id]
    assert found(operator, group, f"{mine.created_at:%Y-%m-%d} {agent.id}") == [mine.id]
    assert found(operator, group, "2001-01-01") == []
    assert found(operator, "posts_posttarget", mine.id) == [target.pk for target in mine.targets.all()]


@pytest.mark.parametrize("words", ["agt_1", "anything", "wrk_1 anything", "2027-02-30"])
def test_an_unsupported_search_word_shows_a_message_and_runs_no_search(operator: Client, words: str) -> None:
    page = operator.get(reverse("admin:posts_postgroup_changelist"), {"q": words})

    assert list(page.context["cl"].result_list) == []
    [message] = page.context["messages"]
    assert "Finds pgr_…" in str(message)


def test_workspaces_are_found_by_their_names(operator: Client, workspace: Workspace) -> None:
    assert found(operator, "workspaces_workspace", workspace.name[:4]) == [workspace.id]
    assert found(operator, "workspaces_user", workspace.owner_user.email.upper()) == [workspace.owner_user_id]


def test_lists_are_paged_without_counting_rows(operator: Client, workspace: Workspace) -> None:
    factories.AgentFactory.create_batch(51, workspace=workspace)
    path = reverse("admin:agents_agent_changelist")
    first, second = operator.get(path), operator.get(path, {"p": 2})

    assert [len(page.context["cl"].result_list) for page in (first, second)] == [50, 1]
    assert "?p=2" in first.content.decode()
    assert "Older" not in second.content.decode()
    assert "?p=1" in second.content.decode()
    assert list(operator.get(path, {"p": 3}).context["cl"].result_list) == []


def test_a_rows_page_links_to_related_lists(operator: Client, workspace: Workspace) -> None:
    group = make_group(workspace, factories.AccountFactory.create(workspace=workspace))
    html = operator.get(page_of(type(group), "change", group.pk)).content.decode()

    for path in ("posts_posttarget", "webhooks_event", "webhooks_delivery", "media_mediause"):
        assert f'{reverse(f"admin:{path}_changelist")}?q={group.pk}"' in html
    assert f'{reverse("admin:auditlog_auditentry_changelist")}?q={group.trace_id}"' in html


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_no_workspace_role_gives_access_to_the_console(workspace: Workspace, teammate: User, role: str) -> None:
    Member.objects.filter(user=teammate).update(role=role if role != "owner" else "admin")
    browser = Client()
    browser.force_login(workspace.owner_user if role == "owner" else teammate)

    for name in ("index", "find", "run-retention", "reconcile-billing", "posts_postgroup_changelist"):
        answer = browser.get(reverse(f"admin:{name}"))

        assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/admin/login/")
    assert browser.post(reverse("admin:run-retention")).status_code == 302
