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


def create_and_publish(clock: Any, api: ApiClient, account: ConnectedAccount, text: str) -> dict[str, Any]:
    group = create(api, account, texts=[text])
    publish_rounds(clock)
    return read(api, group)


def test_failed_targets_are_retried(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = create_and_publish(clock, api, account, "[sandbox:reject]")
    PostTarget.objects.update(text="Mended")

    assert act(operator, "retry", row(group)) == [f"Retried: {group['id']}."]
    publish_rounds(clock)
    assert read(api, group)["status"] == "published"
    assert console_audit_entries() == [("posts.retry", group["workspace_id"], group["id"], None)]


def test_unconfirmed_targets_are_retried_only_by_their_own_action(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = create_and_publish(clock, api, account, "[sandbox:unknown]")
    [message] = act(operator, "retry", row(group))

    assert "no account has failed" in message
    assert act(operator, "retry_unconfirmed", row(group)) == [f"Retried: {group['id']}."]
    assert [entry[3] for entry in console_audit_entries()] == ["INVALID_STATE", None]


def test_a_scheduled_post_is_cancelled(operator: Client, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)

    assert act(operator, "cancel", row(group)) == [f"Cancelled: {group['id']}."]
    assert read(api, group)["status"] == "cancelled"


@pytest.mark.parametrize(
    ("seen", "status"), [({"permalink": "https://social.example/1"}, "published"), ({"not_published": "on"}, "failed")]
)
def test_an_unconfirmed_target_is_resolved(
    operator: Client,
    api: ApiClient,
    account: ConnectedAccount,
    clock: time_machine.Traveller,
    seen: dict[str, Any],
    status: str,
) -> None:
    group = create_and_publish(clock, api, account, "[sandbox:unknown]")
    target = the_target(group)

    assert act(operator, "resolve", target, **seen) == [f"Resolved: {target.id}."]
    [target] = read(api, group)["targets"]
    assert (target["status"], target["permalink"]) == (status, seen.get("permalink"))
    assert console_audit_entries() == [("posts.resolve", group["workspace_id"], group["id"], None)]


@pytest.mark.parametrize(
    "seen", [{}, {"permalink": "https://social.example/1", "not_published": "on"}, {"permalink": "javascript:alert(1)"}]
)
def test_a_resolution_needs_exactly_one_answer(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller, seen: dict[str, str]
) -> None:
    group = create_and_publish(clock, api, account, "[sandbox:unknown]")
    fields = {"action": "resolve", "_selected_action": the_target(group).pk, "confirmed": "yes", **seen}
    page = operator.post("/admin/posts/posttarget/", fields)

    assert page.context["form"].errors
    assert read(api, group)["status"] == "unconfirmed"


def test_one_permalink_cannot_resolve_two_targets(
    operator: Client, api: ApiClient, accounts: list[ConnectedAccount], clock: time_machine.Traveller
) -> None:
    group = create(api, *accounts[:2], texts=["[sandbox:unknown]"] * 2)
    publish_rounds(clock)
    messages = act(operator, "resolve", *PostTarget.objects.all(), permalink="https://social.example/1")

    assert messages == ["Each target has its own address. Resolve one target at a time."]
    assert read(api, group)["status"] == "unconfirmed"


def test_a_target_of_a_deleted_workspace_cannot_be_retried(
    operator: Client, api: ApiClient, account: ConnectedAccount, clock: time_machine.Traveller, workspace: Workspace
) -> None:
    group = create_and_publish(clock, api, account, "[sandbox:reject]")
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")
    [message] = act(operator, "retry", row(group))

    assert "There is no such post group." in message
    assert the_target(group).status == "failed"
