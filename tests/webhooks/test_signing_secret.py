"""GET /workspaces/{id}/webhook-signing-secret, and its rotation."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from auditlog.models import AuditEntry
from config.api.caller import AgentMode, WorkspaceStatus, system_caller
from tests.conftest import ApiClient
from tests.factories import UserFactory, WorkspaceFactory
from tests.fakes.receiver import Receiver
from tests.plan_hashes import ANY_PLAN_HASH
from tests.webhooks.rows import NOON, as_user, emit, with_agent_key, with_key
from tests.webhooks.sending import deliver_until_idle
from webhooks import services, signing
from webhooks.models import SigningSecret
from workspaces.models import Member, User, Workspace


def path(workspace: Workspace) -> str:
    return f"/workspaces/{workspace.id}/webhook-signing-secret"


def secret_of(workspace: Workspace) -> str:
    return SigningSecret.objects.get(pk=workspace.pk).secret


def test_the_secret_is_returned_with_its_signature_format(workspace: Workspace) -> None:
    response = with_key(workspace, "api_keys.write").get(path(workspace))

    assert response.status_code == 200
    assert response.json() == {
        "workspace_id": workspace.id,
        "signing_secret": secret_of(workspace),
        "signature_header": "x-service-signature",
        "signed_payload_format": "<timestamp>.<raw_body>",
        "algorithm": "HMAC-SHA256",
    }


def test_the_secret_stays_the_same_and_differs_by_workspace(workspace: Workspace) -> None:
    other = WorkspaceFactory.create()
    read = [with_key(one, "api_keys.write").get(path(one)).json()["signing_secret"] for one in (workspace, other, workspace)]

    assert read[0] == read[2] != read[1]


def test_reading_needs_the_scope(workspace: Workspace) -> None:
    response = with_key(workspace, "posts.publish", "logs.read").get(path(workspace))

    assert (response.status_code, response.json()["code"]) == (403, "SCOPE_MISSING")


def test_a_foreign_workspaces_secret_does_not_exist(workspace: Workspace) -> None:
    response = with_key(WorkspaceFactory.create(), "api_keys.write").get(path(workspace))

    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")


def test_the_secret_is_encrypted_at_rest(workspace: Workspace) -> None:
    shown = with_key(workspace, "api_keys.write").get(path(workspace)).json()["signing_secret"]
    with_key(workspace, "api_keys.write").post(path(workspace) + "/rotate")
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret, previous_secret FROM webhooks_signingsecret")
        [stored] = cursor.fetchall()

    assert re.fullmatch(r"whsec_\w{43}", shown)
    assert not any("whsec_" in value or shown in value for value in stored)
    assert SigningSecret.objects.get().previous_secret == shown


@pytest.mark.django_db(transaction=True)
def test_concurrent_first_reads_get_the_same_secret() -> None:
    workspace = WorkspaceFactory.create()

    def read(_: int) -> str:
        try:
            return services.get_or_create_and_audit_signing_secret(
                caller=system_caller(workspace.id), workspace_id=workspace.id
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(read, range(16))) == {secret_of(workspace)}


def test_rotation_returns_a_new_secret(workspace: Workspace) -> None:
    client = with_key(workspace, "api_keys.write")
    before = client.get(path(workspace)).json()

    response = client.post(path(workspace) + "/rotate")

    assert response.status_code == 200
    assert response.json() == {**before, "signing_secret": secret_of(workspace)}
    assert secret_of(workspace) != before["signing_secret"]


def test_for_24_hours_deliveries_have_both_signatures_with_the_new_first(workspace: Workspace, receiver: Receiver) -> None:
    caller = system_caller(workspace.id)
    with time_machine.travel(NOON, tick=False):
        old = services.get_or_create_and_audit_signing_secret(caller=caller, workspace_id=workspace.id)
        new = services.rotate_signing_secret_of_workspace(caller=caller, workspace_id=workspace.id)
        assert new
    for moment in (NOON + timedelta(hours=24, seconds=-1), NOON + timedelta(hours=24)):
        with time_machine.travel(moment, tick=False):
            emit(workspace, receiver.url)
            deliver_until_idle()

    for request, keys in zip(receiver.requests, ([new, old], [new]), strict=True):
        header = request.headers["x-service-signature"]
        assert header == signing.signature_header_value(keys, request.body, at=int(header[2:12]))


def test_a_replay_of_the_rotation_shows_no_secret_and_rotates_nothing(workspace: Workspace) -> None:
    client = with_key(workspace, "api_keys.write")
    first = client.post(path(workspace) + "/rotate", idempotency_key="one").json()

    again = client.post(path(workspace) + "/rotate", idempotency_key="one")

    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == {**first, "signing_secret": None}
    assert secret_of(workspace) == first["signing_secret"]


def test_a_dry_run_shows_no_secret_and_rotates_nothing(workspace: Workspace) -> None:
    client = with_key(workspace, "api_keys.write")
    before = client.get(path(workspace)).json()

    response = client.post(path(workspace) + "/rotate", {"dry_run": True})

    assert response.status_code == 200
    assert response.json() == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "workspaces.rotate_signing_secret",
        "request": {},
        "would_update": {**before, "signing_secret": None},
    }
    assert client.get(path(workspace)).json() == before


def test_the_owner_may_rotate(workspace: Workspace) -> None:
    assert as_user(workspace.owner_user).post(path(workspace) + "/rotate").status_code == 200


@pytest.mark.parametrize("role", ["admin", "member"])
def test_a_teammate_may_not_rotate(workspace: Workspace, role: str) -> None:
    teammate = UserFactory.create()
    Member.objects.create(workspace=workspace, user=teammate, role=role)

    response = as_user(teammate).post(path(workspace) + "/rotate")

    assert (response.status_code, response.json()["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize("mode", [AgentMode.DRY_RUN, AgentMode.ALLOW_PUBLISH])
def test_an_agent_may_neither_read_nor_rotate_with_any_scope(workspace: Workspace, mode: AgentMode) -> None:
    agent = with_agent_key(workspace, mode, "api_keys.write")

    for response in (agent.get(path(workspace)), agent.post(path(workspace) + "/rotate")):
        assert (response.status_code, response.json()["code"]) == (403, "FORBIDDEN")
        assert "whsec_" not in response.content.decode()
    refused = AuditEntry.objects.filter(outcome="refused", code="FORBIDDEN", actor_type="agent").order_by("pk")
    assert [(entry.operation, entry.workspace_id) for entry in refused] == [
        ("workspaces.get_signing_secret", workspace.id),
        ("workspaces.rotate_signing_secret", workspace.id),
    ]


def test_each_read_writes_an_audit_entry_without_the_secret(workspace: Workspace) -> None:
    key, owner = with_key(workspace, "api_keys.write"), workspace.owner_user
    admin = UserFactory.create()
    Member.objects.create(workspace=workspace, user=admin, role="admin")
    for client in (key, as_user(owner), as_user(admin)):
        assert client.get(path(workspace)).status_code == 200

    entries = AuditEntry.objects.order_by("pk")
    assert [entry.actor_type for entry in entries] == ["api_key", "user", "user"]
    for entry in entries:
        assert (entry.operation, entry.outcome, entry.code) == ("workspaces.get_signing_secret", "succeeded", None)
        assert (entry.workspace_id, entry.resource_type, entry.resource_id) == (workspace.id, "workspace", workspace.id)
        assert entry.metadata == {}


def test_each_refused_read_writes_an_audit_entry(workspace: Workspace, teammate: User, stranger: User) -> None:
    elsewhere = WorkspaceFactory.create()
    tried = [
        (with_key(workspace, "posts.publish").get(path(workspace)), workspace.id),
        (with_key(workspace, "api_keys.write").get(path(workspace) + "?colour=red"), workspace.id),
        (as_user(teammate).get(path(workspace)), workspace.id),
        (as_user(stranger).get(path(workspace)), ""),
        (with_key(elsewhere, "api_keys.write").get(path(workspace)), elsewhere.id),
    ]

    assert list(AuditEntry.objects.order_by("pk").values_list("operation", "outcome", "code", "workspace_id")) == [
        ("workspaces.get_signing_secret", "refused", answer.json()["code"], where) for answer, where in tried
    ]
    assert [answer.status_code for answer, _ in tried] == [403, 422, 403, 404, 404]
    assert not SigningSecret.objects.exists()


def test_strangers_get_not_found(workspace: Workspace, stranger: User) -> None:
    for client in (as_user(stranger), with_key(WorkspaceFactory.create(), "api_keys.write")):
        response = client.post(path(workspace) + "/rotate")
        assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")
    assert ApiClient().post(path(workspace) + "/rotate").status_code == 401


def test_in_a_paused_workspace_the_secret_can_be_read_and_not_rotated(workspace: Workspace) -> None:
    client = with_key(workspace, "api_keys.write")
    Workspace.objects.update(status=WorkspaceStatus.PAUSED)

    assert client.get(path(workspace)).status_code == 200
    response = client.post(path(workspace) + "/rotate")
    assert (response.status_code, response.json()["code"]) == (403, "WORKSPACE_PAUSED")


def test_a_rotation_writes_an_audit_entry_without_the_secret(workspace: Workspace) -> None:
    with_key(workspace, "api_keys.write").post(path(workspace) + "/rotate")

    entry = AuditEntry.objects.get(operation="workspaces.rotate_signing_secret")
    assert (entry.workspace_id, entry.resource_type, entry.resource_id) == (workspace.id, "workspace", workspace.id)
    assert (entry.outcome, entry.metadata, entry.created_at <= timezone.now()) == ("succeeded", {}, True)
