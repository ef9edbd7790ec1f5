"""Admin actions of operators: retry, cancel and resolve posts through the usual services."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import ConnectedAccount
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.console.operators import act, console_audit_entries
from tests.people import console
from tests.posts.rows import TOMORROW, create, publish_rounds, read, the_target
from workspaces.models import Workspace


@pytest.fixture
def operator(clock: time_machine.Traveller, db: None) -> Client:
    return console()


def row(group: dict[str, Any]) -> PostGroup:
    return PostGroup.objects.get(pk=group["id"])


def ended(clock: Any, api: ApiClient, account: ConnectedAccount, text: str) -> dict[str, Any]:
    group = create(api, account, texts=[text])
    publish_rounds(clock)
    return read(api, group)


def test_what_failed_is_sent_again(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = ended(clock, api, account, "[sandbox:reject]")
    PostTarget.objects.update(text="Mended")

    assert act(operator, "retry", row(group), asks=False) == [f"Retried: {group['id']}."]
    publish_rounds(clock)
    assert read(api, group)["status"] == "published"
    assert console_audit_entries() == [("posts.retry", group["workspace_id"], group["id"], None)]


def test_what_is_unconfirmed_is_sent_again_only_when_it_is_said_to(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = ended(clock, api, account, "[sandbox:unknown]")
    [told] = act(operator, "retry", row(group), asks=False)

    assert "has no targets to retry" in told
    assert act(operator, "retry_unconfirmed", row(group)) == [f"Retried: {group['id']}."]
    assert [entry[3] for entry in console_audit_entries()] == ["INVALID_STATE", None]


def test_what_waits_is_cancelled(operator: Client, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    assert act(operator, "cancel", row(group)) == [f"Cancelled: {group['id']}."]
    assert read(api, group)["status"] == "cancelled"


@pytest.mark.parametrize(
    ("seen", "status"), [({"permalink": "https://social.example/1"}, "published"), ({"not_published": "on"}, "failed")]
)
def test_what_is_unconfirmed_is_resolved(
    operator: Client,
    api: ApiClient,
    account: ConnectedAccount,
    clock: time_machine.Traveller,
    seen: dict[str, Any],
    status: str,
) -> None:
    group = ended(clock, api, account, "[sandbox:unknown]")
    target = the_target(group)

    assert act(operator, "resolve", target, **seen) == [f"Resolved: {target.id}."]
    [told] = read(api, group)["targets"]
    assert (told["status"], told["permalink"]) == (status, seen.get("permalink"))
    assert console_audit_entries() == [("posts.resolve", group["workspace_id"], group["id"], None)]


@pytest.mark.parametrize(
    "seen", [{}, {"permalink": "https://social.example/1", "not_published": "on"}, {"permalink": "javascript:alert(1)"}]
)
def test_a_resolution_says_one_thing(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller, seen: dict[str, str]
) -> None:
    group = ended(clock, api, account, "[sandbox:unknown]")
    fields = {"action": "resolve", "_selected_action": the_target(group).pk, "confirmed": "yes", **seen}
    page = operator.post("/admin/posts/posttarget/", fields)

    assert page.context["form"].errors
    assert read(api, group)["status"] == "unconfirmed"


def test_one_address_is_not_that_of_two_posts(
    operator: Client, api: ApiClient, accounts: list[ConnectedAccount], clock: time_machine.Traveller
) -> None:
    group = create(api, *accounts[:2], texts=["[sandbox:unknown]"] * 2)
    publish_rounds(clock)
    told = act(operator, "resolve", *PostTarget.objects.all(), permalink="https://social.example/1")

    assert told == ["Each target has its own address. Resolve one target at a time."]
    assert read(api, group)["status"] == "unconfirmed"


def test_what_a_deleted_workspace_held_stays_as_it_is(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller, workspace: Workspace
) -> None:
    group = ended(clock, api, account, "[sandbox:reject]")
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")
    [told] = act(operator, "retry", row(group), asks=False)

    assert "There is no such post group." in told
    assert the_target(group).status == "failed"
