"""The search box of the operators' console."""

from __future__ import annotations

import pytest
from django.contrib.admin.utils import quote
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.models import ApiKey
from tests import factories
from tests.console.console_rows import SECRET, make_group
from tests.people import console
from workspaces.models import User, Workspace


@pytest.fixture
def operator(db: None) -> Client:
    return console()


def find(operator: Client, words: str) -> dict[str, list[str]]:
    """Return the ids of the found rows by kind, each of which the page links to its admin page."""
    page = operator.get(reverse("admin:find"), {"q": words})
    assert page.status_code == 200
    html = page.content.decode()
    found: dict[str, list[str]] = {}
    for opts, kind in page.context["found"]:
        for row in kind.rows:
            assert f'href="{reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[quote(row.pk)])}"' in html
        found[opts.model_name] = [row.pk for row in kind.rows]
    return found


def make_key(workspace: Workspace, prefix: str) -> ApiKey:
    return ApiKey.objects.create(workspace=workspace, name="Key", prefix=prefix, token_sha256=prefix.ljust(64, "0"))


def test_people_workspaces_accounts_posts_and_keys_are_found(operator: Client, workspace: Workspace) -> None:
    User.objects.filter(pk=workspace.owner_user_id).update(email="ada@example.com", display_name="Ada Lovelace")
    account = factories.AccountFactory.create(workspace=workspace, handle="ada.example", tokens={"access": SECRET})
    group = make_group(workspace, account, text="An engine that weaves algebraical patterns")
    key = make_key(workspace, "sps_key_abcd")
    make_key(workspace, "sps_key_efgh")

    assert find(operator, "Ada@Example.com") == {"user": [workspace.owner_user_id]}
    assert find(operator, "lovelace") == {"user": [workspace.owner_user_id]}
    assert find(operator, "@ada.example") == {"connectedaccount": [account.pk]}
    assert find(operator, f" {workspace.name.upper()} ") == {"workspace": [workspace.pk]}
    assert find(operator, "algebraical  PATTERNS") == {"postgroup": [group.pk]}
    assert find(operator, "sps_key_abcd") == {"apikey": [key.pk]}
    assert find(operator, "sps_key_abcdefghijklmnopqrstuvwxyz") == {"apikey": [key.pk]}


def test_a_workspaces_id_before_the_words_searches_only_its_texts(operator: Client, workspace: Workspace) -> None:
    account = factories.AccountFactory.create(workspace=workspace)
    other = factories.WorkspaceFactory.create()
    mine = make_group(workspace, account, 1, text="Good morning")
    theirs = make_group(other, factories.AccountFactory.create(workspace=other), 2, text="Good morning")

    assert find(operator, "good morning") == {"postgroup": [theirs.pk, mine.pk]}
    assert find(operator, f"{workspace.id} good morning") == {"postgroup": [mine.pk]}


def test_ten_of_a_kind_are_shown_and_the_work_is_bounded(operator: Client, workspace: Workspace) -> None:
    account = factories.AccountFactory.create(workspace=workspace)
    groups = [make_group(workspace, account, number, text="Good morning") for number in range(12)]
    with CaptureQueriesContext(connection) as asked:
        assert find(operator, "morning") == {"postgroup": [group.pk for group in groups[:1:-1]]}
    assert len(asked) <= 15
    assert "Only the newest" in operator.get(reverse("admin:find"), {"q": "morning"}).content.decode()


@pytest.mark.parametrize("words", ["", "pgr_00000000000000000000000000", "nobody@example.com", "'; --", "%", "\0"])
def test_what_is_not_there_is_not_found(operator: Client, workspace: Workspace, words: str) -> None:
    assert find(operator, words) == {}


def test_the_search_shows_no_secrets_and_only_tables_that_one_may_see(operator: Client, workspace: Workspace) -> None:
    factories.AccountFactory.create(workspace=workspace, handle="ada.example", tokens={"access": SECRET})
    assert SECRET not in operator.get(reverse("admin:find"), {"q": "ada"}).content.decode()
    User.objects.filter(username="operator").update(is_superuser=False)

    assert find(operator, "ada") == {}
