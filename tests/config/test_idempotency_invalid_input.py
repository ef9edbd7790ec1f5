"""A repeated Idempotency-Key gets the stored answer even if the second request's input is invalid."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import ConnectedAccount
from agents import tokens
from agents.models import Agent, ApiKey, ClaimToken
from auditlog.models import AuditEntry
from posts.models import PostGroup
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
KEYS = "/auth/api-keys"


def new_key(workspace: Workspace, **changes: Any) -> dict[str, Any]:
    return {"workspace_id": workspace.id, "name": "A key", "scopes": ["posts.read"], **changes}


def draft(account: ConnectedAccount, **changes: Any) -> dict[str, Any]:
    target = {"platform": account.platform, "connected_account_id": account.id}
    return {"text": "Hello", "draft": True, "targets": [target], **changes}


def assert_replayed(answer: Any, first: Any) -> None:
    """Assert that the answer is a replay, marked as a request with different input."""
    assert answer.status_code in (first.status_code, 200), answer.content
    assert (answer["Idempotency-Replayed"], answer["Idempotency-Request-Differs"]) == ("true", "true")
    assert answer.json() == {name: None if name == "token" else value for name, value in first.json().items()}


def assert_refused(answer: Any) -> None:
    """Assert that the invalid input is refused and nothing is replayed."""
    assert_envelope(answer, 422, "VALIDATION_FAILED")
    assert "Idempotency-Replayed" not in answer


@pytest.mark.parametrize(
    "body",
    [{}, [], None, 7, "text", {"name": 1}, {"colour": "red"}, {"workspace_id": "nonsense"}, {"scopes": ["posts.all"]}],
    ids=str,
)
def test_an_invalid_body_gets_the_first_answer(api: ApiClient, workspace: Workspace, body: Any) -> None:
    first = api.post(KEYS, new_key(workspace), idempotency_key="one")
    made = ApiKey.objects.count()
    given = {**new_key(workspace), **body} if isinstance(body, dict) and body else body

    assert_replayed(api.request("POST", KEYS, b"null" if body is None else given, idempotency_key="one"), first)
    assert ApiKey.objects.count() == made
    assert not AuditEntry.objects.filter(outcome="refused").exists()


def test_an_invalid_query_gets_the_first_answer(api: ApiClient, workspace: Workspace) -> None:
    first = api.post(KEYS, new_key(workspace), idempotency_key="one")

    for query in ("colour=red", "dry_run=false&dry_run=false"):
        assert_replayed(api.post(f"{KEYS}?{query}", new_key(workspace), idempotency_key="one"), first)


def test_the_replay_of_a_post_shows_its_current_state(api: ApiClient, account: ConnectedAccount) -> None:
    first = api.post("/posts", draft(account), idempotency_key="one").json()["post_group"]
    changed = api.request("PATCH", f"/posts/{first['id']}", {"text": "Better"}).json()["post_group"]

    again = api.post("/posts", draft(account, targets=[]), idempotency_key="one")
    assert (again.status_code, again["Idempotency-Request-Differs"]) == (201, "true")
    assert again.json()["post_group"] == changed
    assert PostGroup.objects.count() == 1


@pytest.mark.parametrize("content", [b"{", b'{"a": 1, "a": 2}', b"\xff", b"[NaN]"])
def test_malformed_json_is_refused_despite_a_stored_answer(api: ApiClient, workspace: Workspace, content: bytes) -> None:
    api.post(KEYS, new_key(workspace), idempotency_key="one")

    assert_envelope(api.request("POST", KEYS, content, idempotency_key="one"), 400, "MALFORMED_REQUEST")


def test_a_dry_run_gets_no_stored_answer(api: ApiClient, workspace: Workspace) -> None:
    api.post(KEYS, new_key(workspace), idempotency_key="one")

    assert_refused(api.post(KEYS, {"dry_run": True}, idempotency_key="one"))
    assert_refused(api.post(f"{KEYS}?dry_run=true", {}, idempotency_key="one"))


def test_an_agent_in_dry_run_mode_gets_no_stored_answer(workspace: Workspace, account: ConnectedAccount) -> None:
    agent = factories.AgentFactory.create(workspace=workspace)
    client = ApiClient(factories.agent_key(agent))
    client.post("/posts", draft(account), idempotency_key="one")
    Agent.objects.update(default_mode="dry_run")

    assert_refused(client.post("/posts", {}, idempotency_key="one"))


def test_without_a_stored_answer_invalid_input_is_refused_and_the_key_can_be_used(
    api: ApiClient, workspace: Workspace
) -> None:
    assert_refused(api.post(KEYS, {}, idempotency_key="one"))

    assert "Idempotency-Replayed" not in api.post(KEYS, new_key(workspace), idempotency_key="one")


def test_after_24_hours_invalid_input_is_refused(api: ApiClient, workspace: Workspace) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        first = api.post(KEYS, new_key(workspace), idempotency_key="one")
        clock.move_to(NOON + timedelta(hours=24, seconds=-1))
        assert_replayed(api.post(KEYS, {}, idempotency_key="one"), first)
        clock.move_to(NOON + timedelta(hours=24))
        assert_refused(api.post(KEYS, {}, idempotency_key="one"))


def test_only_the_same_caller_and_operation_get_the_stored_answer(
    api: ApiClient, key_with: Any, agent_client: Any, workspace: Workspace, account: ConnectedAccount, stranger: User
) -> None:
    foreign = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    api.post("/posts", draft(account), idempotency_key="one")

    for client in (key_with("posts.draft"), agent_client(), foreign):
        assert_refused(client.post("/posts", {}, idempotency_key="one"))
    assert_refused(api.post("/posts/batch", {}, idempotency_key="one"))


def test_a_caller_without_the_scope_gets_the_validation_error(workspace: Workspace, account: ConnectedAccount) -> None:
    client = ApiClient(factories.agent_key(factories.AgentFactory.create(workspace=workspace)))
    client.post("/posts", draft(account), idempotency_key="one")
    Agent.objects.update(scopes=["posts.read"])

    assert_refused(client.post("/posts", {}, idempotency_key="one"))


def test_a_users_idempotency_key_applies_to_the_workspace_in_the_body(
    workspace: Workspace, owner: User, teammate: User, stranger: User
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    first = as_user(owner).post(KEYS, new_key(workspace), idempotency_key="one")
    elsewhere = factories.WorkspaceFactory.create(owner_user=owner)

    assert_replayed(as_user(owner).post(KEYS, new_key(workspace, name=1), idempotency_key="one"), first)
    assert_refused(as_user(owner).post(KEYS, {}, idempotency_key="one"))
    assert_refused(as_user(owner).post(KEYS, new_key(elsewhere, name=1), idempotency_key="one"))
    for person in (teammate, stranger):
        assert_refused(as_user(person).post(KEYS, new_key(workspace, name=1), idempotency_key="one"))


def test_a_user_who_left_the_workspace_gets_no_stored_answer(workspace: Workspace, teammate: User) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    as_user(teammate).post(KEYS, new_key(workspace), idempotency_key="one")
    Member.objects.filter(user=teammate).delete()

    answer = as_user(teammate).post(KEYS, new_key(workspace, name=1), idempotency_key="one")
    assert_envelope(answer, 404, "NOT_FOUND")


def test_idempotency_keys_of_new_workspaces_apply_to_the_owner(
    api: ApiClient, owner: User, teammate: User, stranger: User
) -> None:
    body = {"owner_user_id": owner.id, "name": "Acme"}
    first = as_user(owner).post("/workspaces", body, idempotency_key="one")

    for client in (as_user(owner), api):
        assert_replayed(client.post("/workspaces", {**body, "name": 1}, idempotency_key="one"), first)
    for client in (as_user(teammate), as_user(stranger)):
        assert_refused(client.post("/workspaces", {**body, "name": 1}, idempotency_key="one"))
    for wrong in ({}, {"owner_user_id": [owner.id]}, {"owner_user_id": None}):
        assert_refused(as_user(owner).post("/workspaces", wrong, idempotency_key="one"))


@pytest.fixture
def claim_token(workspace: Workspace) -> str:
    token = tokens.generate_token(tokens.CLAIM_TOKEN_PREFIX)
    ClaimToken.objects.create(
        agent=factories.AgentFactory.create(workspace=workspace),
        token_sha256=tokens.token_digest(token),
        expires_at=datetime.now(UTC) + timedelta(hours=1),
    )
    return token


def test_idempotency_keys_of_claims_apply_to_the_claim_token(
    api: ApiClient, claim_token: str, stranger: User, key_with: Callable[..., ApiClient]
) -> None:
    path, wrong = "/agents/claim", {"claim_token": claim_token, "colour": "red"}
    first = ApiClient(claim_token).post(path, {"claim_token": claim_token}, idempotency_key="one")

    for client in (ApiClient(claim_token), api, key_with("posts.read")):
        assert_replayed(client.post(path, wrong, idempotency_key="one"), first)
    foreign = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))
    assert_refused(foreign.post(path, wrong, idempotency_key="one"))
    for body in ({}, {"claim_token": 1}):
        assert_refused(api.post(path, body, idempotency_key="one"))
