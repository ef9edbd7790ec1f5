"""Publishing to Telegram end to end: a group that becomes a supergroup keeps working under its new id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.fakes.telegram import FakeTelegram
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeTelegram]:
    with FakeTelegram() as running:
        settings.PLATFORM_SETTINGS = {"TELEGRAM_API_BASE": running.url}
        yield running


@pytest.fixture
def group_chat(server: FakeTelegram) -> tuple[int, str]:
    """A group, and the token of a bot in it."""
    token = server.add_bot("news_bot")
    chat = server.add_chat("group", "Friends")
    server.set_member(chat, token, "member")
    return chat, token


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, group_chat: tuple[int, str]) -> ConnectedAccount:
    chat, token = group_chat
    credentials = {"bot_token": token, "chat_id": str(chat)}
    body = {"workspace_id": workspace.id, "platform": "telegram", "credentials": credentials}
    return ConnectedAccount.objects.get(pk=api.post("/accounts/connect", body).json()["account"]["id"])


def test_the_first_post_after_the_move_finds_the_new_number_and_the_next_one_knows_it(
    api: ApiClient, server: FakeTelegram, account: ConnectedAccount, group_chat: tuple[int, str], clock: Any
) -> None:
    supergroup = server.upgrade(group_chat[0])

    for text in ("One", "Two"):
        group = create(api, account, text=text)
        publish_rounds(clock)
        [target] = read(api, group)["targets"]
        assert (target["status"], target["attempts"]) == ("published", 1)

    assert [message.text for message in server.messages(supergroup)] == ["One", "Two"]
    assert server.requests_to("sendMessage") == 3
    kept = ConnectedAccount.objects.get(pk=account.pk)
    assert (kept.status, kept.external_id) == ("active", str(group_chat[0]))


def test_asking_after_the_account_finds_the_new_number_as_well(
    api: ApiClient, server: FakeTelegram, account: ConnectedAccount, group_chat: tuple[int, str], clock: Any
) -> None:
    server.upgrade(group_chat[0])

    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "active"
    create(api, account)
    publish_rounds(clock)

    assert server.requests_to("sendMessage") == 1


def test_a_group_that_moved_without_the_bot_needs_its_owner(
    api: ApiClient, server: FakeTelegram, account: ConnectedAccount, group_chat: tuple[int, str], clock: Any
) -> None:
    chat, token = group_chat
    server.set_member(server.upgrade(chat), token, "kicked")
    group = create(api, account)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("failed", "ACCOUNT_NEEDS_REAUTH")
    assert ConnectedAccount.objects.get(pk=account.pk).status == "needs_reauth"
