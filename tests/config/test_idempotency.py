"""Idempotency-Key: a repeated request has one effect and gets the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from pytest_django import Settings

from accounts.models import ConnectedAccount
from agents.models import Agent, ApiKey
from config.api.models import IdempotencyRecord
from config.api.retention import ExpiredIdempotencyRecordsRule
from posts.models import PostGroup
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
HANDLE, APP_PASSWORD = "alice.test", "abcd-efgh-ijkl-mnop"
Send = Callable[..., Any]


def new_key(workspace: Workspace, name: str = "A key", **changes: Any) -> dict[str, Any]:
    return {"workspace_id": workspace.id, "name": name, "scopes": ["posts.read"], **changes}


@pytest.fixture
def pds(settings: Settings) -> Iterator[FakeBluesky]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeBluesky() as server:
        server.add_account(HANDLE, APP_PASSWORD)
        yield server


@pytest.fixture(params=["api_keys.create", "agents.create", "workspaces.create", "accounts.connect"])
def send(request: Any, workspace: Workspace, owner: User, api: ApiClient, pds: FakeBluesky) -> Send:
    """Send one of four operations with a key; `name` changes its body, `right=False` makes the call fail."""

    def call(key: str, *, name: str = "A name", right: bool = True, **more: Any) -> Any:
        owned: dict[str, Any] = {"workspace_id": workspace.id, "name": name, "scopes": ["posts.read"]}
        person = owner.id if right else "usr_00000000000000000000000000"
        password = APP_PASSWORD if right else "wrong-wron-wron-wron"
        service = pds.url if name == "A name" else f"{pds.url}/"
        credentials = {"identifier": HANDLE, "app_password": password, "service": service}
        calls: dict[str, tuple[str, dict[str, Any]]] = {
            "api_keys.create": ("/auth/api-keys", owned if right else {**owned, "expires_at": "2020-01-01T00:00:00Z"}),
            "agents.create": ("/agents", {**owned, "owner_user_id": person, "default_mode": "draft"}),
            "workspaces.create": ("/workspaces", {"owner_user_id": person, "name": name}),
            "accounts.connect": (
                "/accounts/connect",
                {"workspace_id": workspace.id, "platform": "bluesky", "credentials": credentials},
            ),
        }
        path, body = calls[request.param]
        return api.post(path, {**body, **more}, idempotency_key=key)

    return call


def effects() -> tuple[int, ...]:
    return tuple(model._default_manager.count() for model in (ApiKey, Agent, Workspace, ConnectedAccount))


def redact_secrets(body: dict[str, Any]) -> dict[str, Any]:
    return {name: None if name in ("token", "claim_token") else value for name, value in body.items()}


def is_replay(answer: Any) -> bool:
    return bool(answer.headers.get("Idempotency-Replayed") == "true")


def differs(answer: Any) -> bool:
    return bool(answer.headers.get("Idempotency-Request-Differs") == "true")


def test_a_repeated_request_gets_the_first_answer_and_has_no_effect(send: Send) -> None:
    first = send("1")
    made = effects()
    again = send("1")

    assert (first.status_code, is_replay(first)) in [(200, False), (201, False)]
    assert (is_replay(again), differs(again)) == (True, False)
    assert again.status_code == (200 if "token" in first.json() else first.status_code)
    assert again.json() == redact_secrets(first.json())
    assert effects() == made


def test_a_repeated_key_with_different_input_is_marked_in_the_answer(send: Send) -> None:
    first = send("1")
    made = effects()
    again = send("1", name="Another")

    assert (is_replay(again), differs(again)) == (True, True)
    assert again.json() == redact_secrets(first.json())
    assert effects() == made


def test_a_failed_request_is_not_stored(send: Send) -> None:
    before = effects()
    refused = send("1", right=False)

    assert refused.status_code in (403, 422)
    assert (effects(), IdempotencyRecord.objects.count()) == (before, 0)
    assert (send("1").status_code < 300, is_replay(send("1"))) == (True, True)


def test_a_dry_run_neither_stores_nor_replays_an_answer(send: Send) -> None:
    previews = [send("1", dry_run=True)]
    records = IdempotencyRecord.objects.count()
    real = send("1")
    previews.append(send("1", dry_run=True))

    assert records == 0
    assert (real.status_code < 300, is_replay(real)) == (True, False)
    assert [preview.json()["dry_run"] for preview in previews] == [True, True]
    assert not any(is_replay(preview) for preview in previews)


def test_a_key_is_valid_for_24_hours(send: Send) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        send("1")
        clock.move_to(NOON + timedelta(hours=23, minutes=59, seconds=59))
        last = send("1")
        clock.move_to(NOON + timedelta(hours=24, seconds=1))
        later, after = send("1"), send("1")

    assert [is_replay(answer) for answer in (last, later, after)] == [True, False, True]
    assert IdempotencyRecord.objects.count() == 1


def test_secrets_are_not_stored_in_the_database(send: Send) -> None:
    secret = next((value for name, value in send("my-key").json().items() if name in ("token", "claim_token")), None)
    send("my-key")
    stored = ""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            stored += str(cursor.fetchall())

    assert IdempotencyRecord.objects.get().operation in stored
    assert [each for each in (secret, APP_PASSWORD, "my-key") if each and each in stored] == []


def test_the_same_input_in_another_notation_is_the_same_request(api: ApiClient, workspace: Workspace) -> None:
    scopes = '"scopes": ["posts.read"]'
    api.post("/auth/api-keys", f'{{"workspace_id":"{workspace.id}","name":"A",{scopes}}}'.encode(), idempotency_key="1")
    text = f'{{ {scopes}, "name" : "\\u0041", "workspace_id": "{workspace.id}" }}'
    again = api.post("/auth/api-keys", text.encode(), idempotency_key="1")

    assert (is_replay(again), differs(again)) == (True, False)


@pytest.mark.parametrize("key", ["", "x" * 256, "schlüssel", "tab\there", "\x7f"])
def test_an_invalid_key_is_refused(api: ApiClient, workspace: Workspace, key: str) -> None:
    answer = api.post("/auth/api-keys", new_key(workspace), idempotency_key=key)

    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "Idempotency-Key"


@pytest.mark.parametrize("key", ["1", " ", "x" * 255, 'any "printable" ~ ASCII'])
def test_a_key_may_be_any_printable_ascii(api: ApiClient, workspace: Workspace, key: str) -> None:
    answers = [api.post("/auth/api-keys", new_key(workspace), idempotency_key=key) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [201, 200]


def test_reads_ignore_a_key(api: ApiClient) -> None:
    assert api.get("/capabilities", idempotency_key="").status_code == 200


def test_a_key_belongs_to_one_operation(api: ApiClient, workspace: Workspace, owner: User) -> None:
    agent = {**new_key(workspace), "owner_user_id": owner.id, "default_mode": "draft"}
    answers = [api.post("/auth/api-keys", new_key(workspace), idempotency_key="1")]
    answers.append(api.post("/agents", agent, idempotency_key="1"))

    assert [(answer.status_code, is_replay(answer)) for answer in answers] == [(201, False)] * 2


def test_two_api_keys_of_a_workspace_do_not_share_idempotency_keys(
    api: ApiClient, key_with: Any, workspace: Workspace
) -> None:
    other = key_with("api_keys.write", "posts.read")
    answers = [client.post("/auth/api-keys", new_key(workspace), idempotency_key="1") for client in (api, other)]

    assert [(answer.status_code, is_replay(answer)) for answer in answers] == [(201, False)] * 2


def test_the_api_keys_of_one_agent_share_idempotency_keys_and_agents_do_not(
    workspace: Workspace, account: ConnectedAccount
) -> None:
    agents = [factories.AgentFactory.create(workspace=workspace) for _ in range(2)]
    clients = [ApiClient(factories.agent_key(agent)) for agent in (agents[0], agents[1], agents[0])]
    target = {"platform": account.platform, "connected_account_id": account.id}
    body = {"text": "Hello", "targets": [target], "draft": True}
    answers = [client.post("/posts", body, idempotency_key="1") for client in clients]

    assert [(answer.status_code, is_replay(answer)) for answer in answers] == [(201, False), (201, False), (201, True)]
    assert PostGroup.objects.count() == 2


def test_a_users_idempotency_key_applies_to_one_workspace(owner: User, workspace: Workspace) -> None:
    person, other = as_user(owner), factories.WorkspaceFactory.create(owner_user=owner)
    made = [person.post("/auth/api-keys", new_key(each), idempotency_key="1") for each in (workspace, other)]
    ids = [answer.json()["api_key"]["id"] for answer in made]
    revoked = [person.delete(f"/auth/api-keys/{each}", idempotency_key="1") for each in ids]

    assert [is_replay(answer) for answer in (*made, *revoked)] == [False] * 4
    assert ApiKey.objects.filter(pk__in=ids, revoked_at=None).count() == 0


def test_the_purge_deletes_only_expired_records(api: ApiClient, workspace: Workspace) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        api.post("/auth/api-keys", new_key(workspace), idempotency_key="old")
        clock.shift(timedelta(hours=1))
        api.post("/auth/api-keys", new_key(workspace), idempotency_key="young")
        clock.move_to(NOON + timedelta(hours=24))
        purged = ExpiredIdempotencyRecordsRule().purge(100)
        replayed = is_replay(api.post("/auth/api-keys", new_key(workspace), idempotency_key="young"))

    assert (purged, replayed) == (1, True)
