"""Bearer tokens: format, expiry and revocation, and the resulting caller."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents import tokens
from agents.models import Agent, ApiKey
from agents.services import issue_key
from auditlog.models import AuditEntry
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
OPEN_TO_ALL = "/capabilities"


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    made: Agent = factories.AgentFactory(workspace=workspace, scopes=["accounts.read"])
    return made


def whoami(authorization: str) -> Any:
    return ApiClient().get(OPEN_TO_ALL, authorization=authorization)


@pytest.mark.parametrize("kind", [tokens.WORKSPACE_KEY_PREFIX, tokens.AGENT_KEY_PREFIX, tokens.CLAIM_TOKEN_PREFIX])
def test_tokens_are_unique_and_match_the_documented_pattern(kind: str) -> None:
    made = {tokens.generate_token(kind) for _ in range(100)}

    assert len(made) == 100
    assert {(token[:8], len(token), tokens.is_well_formed_token(token)) for token in made} == {(kind, 57, True)}


def test_a_mistyped_token_is_refused_without_a_query(api: ApiClient) -> None:
    token = api.token or ""
    for position, character in enumerate(token):
        flipped = token[:position] + ("a" if character != "a" else "b") + token[position + 1 :]
        with CaptureQueriesContext(connection) as queries:
            assert_envelope(whoami(f"Bearer {flipped}"), 401, "UNAUTHENTICATED")
        assert len(queries) == 0


@pytest.mark.parametrize(
    "authorization",
    ["Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "sps_key_x", "Bearer é", "Bearer null", "Bearer sps_usr_x.y.z"],
)
def test_a_header_without_bearer_token_is_refused(db: None, authorization: str) -> None:
    answer = whoami(authorization)

    assert_envelope(answer, 401, "UNAUTHENTICATED")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_missing_header_gives_a_bearer_challenge(db: None) -> None:
    answer = ApiClient().get(OPEN_TO_ALL)

    assert_envelope(answer, 401, "UNAUTHENTICATED")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_well_formed_token_that_was_never_issued_is_refused(api: ApiClient) -> None:
    unissued = tokens.generate_token(tokens.WORKSPACE_KEY_PREFIX)

    assert_envelope(whoami(f"Bearer {unissued}"), 401, "UNAUTHENTICATED")
    assert whoami(f"bearer  {api.token}").status_code == 200  # the scheme's case does not matter (RFC 9110)


def test_only_the_sha256_of_a_token_is_stored(api: ApiClient) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM agents_apikey")
        stored = str(cursor.fetchall())

    assert api.token
    assert api.token not in stored
    assert api.token[tokens.SHOWN_KEY_PREFIX_LENGTH :] not in stored
    assert tokens.token_digest(api.token) in stored


def test_a_key_stops_working_at_its_expiry(workspace: Workspace) -> None:
    issued = issue_key(workspace_id=workspace.id, name="A", scopes=["posts.read"], expires_at=NOON)
    with time_machine.travel(NOON - timedelta(seconds=1), tick=False):
        assert whoami(f"Bearer {issued.token}").status_code == 200
    with time_machine.travel(NOON, tick=False):
        answer = whoami(f"Bearer {issued.token}")

    assert_envelope(answer, 401, "API_KEY_EXPIRED")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_a_revoked_key_has_its_own_error_code(api: ApiClient) -> None:
    ApiKey.objects.update(revoked_at=NOON, expires_at=NOON)

    answer = api.get(OPEN_TO_ALL)
    assert_envelope(answer, 401, "API_KEY_REVOKED")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_the_keys_of_a_deleted_workspace_stop_at_once(api: ApiClient, agent: Agent) -> None:
    clients = [api, ApiClient(factories.agent_key(agent))]
    Workspace.objects.update(status="deleted")

    for client in clients:
        assert_envelope(client.get(OPEN_TO_ALL), 401, "API_KEY_REVOKED")


def test_the_keys_of_a_revoked_agent_stop_at_once(api: ApiClient, agent: Agent) -> None:
    client = ApiClient(factories.agent_key(agent))
    Agent.objects.update(status="revoked")

    assert_envelope(client.get(OPEN_TO_ALL), 401, "API_KEY_REVOKED")
    assert api.get(OPEN_TO_ALL).status_code == 200


def test_changed_agent_scopes_apply_to_the_next_request(agent: Agent) -> None:
    client, path = ApiClient(factories.agent_key(agent)), f"/accounts?workspace_id={agent.workspace_id}"
    assert client.get(path).status_code == 200

    Agent.objects.update(scopes=["posts.read"])
    assert_envelope(client.get(path), 403, "SCOPE_MISSING")
    Agent.objects.update(scopes=["posts.read", "accounts.read"])
    assert client.get(path).status_code == 200


def test_the_last_use_is_saved_at_most_once_a_minute(api: ApiClient) -> None:
    seen = []
    for seconds in (0, 59, 60, 61, 100):
        with time_machine.travel(NOON + timedelta(seconds=seconds), tick=False):
            api.get(OPEN_TO_ALL)
        seen.append(ApiKey.objects.get().last_used_at)

    assert seen == [NOON] * 3 + [NOON + timedelta(seconds=61)] * 2


def test_a_refused_key_does_not_count_as_used(api: ApiClient) -> None:
    ApiKey.objects.update(revoked_at=NOON)
    api.get(OPEN_TO_ALL)

    assert ApiKey.objects.get().last_used_at is None


def test_a_user_token_is_valid_for_12_hours_while_its_user_is_active(owner: User) -> None:
    with time_machine.travel(NOON, tick=False):
        client = as_user(owner)
    with time_machine.travel(NOON + timedelta(hours=12), tick=False):
        assert client.get(OPEN_TO_ALL).status_code == 200
    with time_machine.travel(NOON + timedelta(hours=12, seconds=1), tick=False):
        assert_envelope(client.get(OPEN_TO_ALL), 401, "UNAUTHENTICATED")

    User.objects.update(is_active=False)
    with time_machine.travel(NOON, tick=False):
        assert_envelope(client.get(OPEN_TO_ALL), 401, "UNAUTHENTICATED")


def test_a_user_token_cannot_be_turned_into_another_users(owner: User, stranger: User) -> None:
    forged = factories.user_token(owner).replace(owner.id, stranger.id)

    assert_envelope(whoami(f"Bearer {forged}"), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "setting",
    [
        {"PRODUCTION": True, "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https")},
        {"OIDC_ISSUER": "https://id.example"},
    ],
)
def test_user_tokens_work_only_in_development(owner: User, settings: Any, setting: dict[str, Any]) -> None:
    client = as_user(owner)
    assert client.get(OPEN_TO_ALL).status_code == 200
    for name, value in setting.items():
        setattr(settings, name, value)

    assert_envelope(client.get(OPEN_TO_ALL, x_forwarded_proto="https"), 401, "UNAUTHENTICATED")


def test_a_dashboard_session_does_not_authenticate_api_requests(owner: User) -> None:
    client = ApiClient()
    client.http.force_login(owner)

    assert_envelope(client.get(OPEN_TO_ALL), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("who", "client", "actor_type", "via"),
    [
        ("key", None, "api_key", None),
        ("key", "cli", "cli", "cli"),
        ("key", "mcp", "mcp", "mcp"),
        ("key", "agent_runtime", "agent_runtime", "agent_runtime"),
        ("key", "system", "api_key", None),
        ("agent", "mcp", "agent", "mcp"),
        ("user", "cli", "user", "cli"),
        ("user", None, "user", None),
    ],
)
def test_the_audit_log_names_the_caller_and_the_client(
    workspace: Workspace, agent: Agent, who: str, client: str | None, actor_type: str, via: str | None
) -> None:
    issued = issue_key(workspace_id=workspace.id, name="A", scopes=["api_keys.write"])
    token, actor_id = {
        "key": (issued.token, issued.api_key.id),
        "agent": (factories.agent_key(agent), agent.id),
        "user": (factories.user_token(workspace.owner_user), workspace.owner_user_id),
    }[who]
    ApiClient(token).post("/auth/api-keys", {}, **({"x_service_client": client} if client else {}))

    entry = AuditEntry.objects.get()
    assert (entry.actor_type, entry.actor_id, entry.via) == (actor_type, actor_id, via)
