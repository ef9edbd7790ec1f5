"""Tests of DELETE /users/{id}."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.contrib.auth.tokens import default_token_generator
from django.test import Client

from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.plan_hashes import ANY_PLAN_HASH
from workspaces.models import Member, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
CANARY = "canary"


@pytest.fixture
def person(db: None) -> User:
    """A user with all personal fields set."""
    with time_machine.travel(NOON, tick=False):
        made: User = factories.UserFactory(
            username=f"{CANARY}-name",
            email=f"{CANARY}@example.com",
            display_name=f"{CANARY} display",
            identity_issuer=f"https://{CANARY}.example.com",
            identity_subject=f"{CANARY}-subject",
            is_staff=True,
            is_superuser=True,
            password="sha$canary",
        )
    return made


def delete(client: ApiClient, user: User, body: Any = None) -> Any:
    return client.delete(f"/users/{user.id}", body)


def is_unchanged(user: User) -> bool:
    """Return whether the user is unchanged."""
    now = User.objects.filter(pk=user.pk).values().get()
    return now == {name: getattr(user, name) for name in now}


def test_a_user_is_erased_and_their_active_workspaces_deleted(person: User) -> None:
    with time_machine.travel(NOON, tick=False):
        first, second = (factories.WorkspaceFactory(owner_user=person) for _ in range(2))
        paused = factories.WorkspaceFactory(owner_user=person, status="paused")
        factories.WorkspaceFactory(owner_user=person, status="deleted")
        shown = as_user(person).get(f"/users/{person.id}/export").json()["owned_workspaces"]
        answer = delete(as_user(person), person)

    assert answer.status_code == 200
    assert answer.json() == {
        "user": {
            "id": person.id,
            "email": f"deleted+{person.id}@users.invalid",
            "created_at": "2027-03-10T12:00:00Z",
            "updated_at": "2027-03-10T12:00:00Z",
            "deleted": True,
        },
        "deleted_workspaces": [{**workspace, "status": "deleted"} for workspace in shown],
    }
    assert [workspace["id"] for workspace in shown] == [second.id, first.id]
    assert list(Workspace.objects.filter(status="deleted", pk__in=[first.pk, second.pk]).order_by("pk")) == [first, second]
    assert Workspace.objects.get(pk=paused.pk).status == "paused"
    row = User.objects.filter(pk=person.pk).values().get()
    assert CANARY not in str(row)
    assert (row["is_active"], row["is_staff"], row["is_superuser"]) == (False, False, False)


def test_each_deletion_writes_an_audit_entry(person: User) -> None:
    workspace = factories.WorkspaceFactory(owner_user=person, retention_tier="pro")
    answer = delete(as_user(person), person)

    entries = AuditEntry.objects.order_by("operation")
    assert [(each.operation, each.workspace_id, each.resource_id, each.retention_tier) for each in entries] == [
        ("users.delete", "", person.id, "free"),
        ("workspaces.delete", workspace.id, workspace.id, "pro"),
    ]
    for each in entries:
        assert (each.actor_type, each.actor_id, each.trace_id) == ("user", person.id, answer["x-trace-id"])
    assert CANARY not in str(list(entries.values()))


def test_sessions_tokens_and_sign_in_links_end(person: User) -> None:
    token, browser = as_user(person), Client()
    browser.force_login(person)
    link = f"/dashboard/sign-in/{person.id}/{default_token_generator.make_token(person)}"
    assert browser.get("/dashboard/").status_code == 200

    delete(token, person)

    assert browser.get("/dashboard/")["location"].startswith("/dashboard/sign-in")
    assert_envelope(token.get("/capabilities"), 401, "UNAUTHENTICATED")
    assert_envelope(as_user(person).get("/capabilities"), 401, "UNAUTHENTICATED")
    assert Client().get(link).status_code == 403
    User.objects.filter(pk=person.pk).update(is_active=True)  # even so the session stays closed
    assert browser.get("/dashboard/")["location"].startswith("/dashboard/sign-in")


def test_keys_of_the_deleted_workspaces_stop(owner: User, api: ApiClient) -> None:
    delete(as_user(owner), owner)

    assert_envelope(api.get("/capabilities"), 401, "API_KEY_REVOKED")


def test_roles_in_other_peoples_workspaces_are_given_up(workspace: Workspace, teammate: User) -> None:
    delete(as_user(teammate), teammate)

    assert [(member.user_id, member.role) for member in Member.objects.filter(workspace=workspace)] == [
        (workspace.owner_user_id, "owner")
    ]
    workspace.refresh_from_db()
    assert workspace.status == "active"


@pytest.mark.parametrize("where", ["body", "query"])
def test_a_dry_run_returns_a_preview_and_deletes_nothing(person: User, where: str) -> None:
    workspace = factories.WorkspaceFactory(owner_user=person)
    client, path = as_user(person), f"/users/{person.id}"
    answer = client.delete(path, {"dry_run": True}) if where == "body" else client.delete(f"{path}?dry_run=true")

    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "plan_hash": ANY_PLAN_HASH,
        "operation": "users.delete",
        "request": {},
        "would_delete": {
            "id": person.id,
            "email": f"deleted+{person.id}@users.invalid",
            "created_at": "2027-03-10T12:00:00Z",
            "updated_at": "2027-03-10T12:00:00Z",
            "deleted": True,
        },
    }
    assert is_unchanged(person)
    workspace.refresh_from_db()
    assert (workspace.status, Member.objects.filter(user=person).count()) == ("active", 1)
    assert [(entry.operation, entry.dry_run) for entry in AuditEntry.objects.all()] == [("users.delete", True)]


def test_another_user_and_a_missing_user_get_the_same_response(person: User, owner: User, teammate: User) -> None:
    for client in (as_user(owner), as_user(teammate)):
        bodies = [
            assert_envelope(delete(client, user), 404, "NOT_FOUND") | {"trace_id": ""}
            for user in (person, User(id=new_id("usr")))
        ]
        assert bodies[0] == bodies[1]
    assert is_unchanged(person)


def test_an_api_key_cannot_delete_a_user(api: ApiClient, owner: User, agent_client: Callable[..., ApiClient]) -> None:
    for client in (api, agent_client()):
        for user in (owner, User(id=new_id("usr"))):
            for dry_run in (False, True):
                assert_envelope(delete(client, user, {"dry_run": dry_run}), 403, "USER_SESSION_REQUIRED")
    owner.refresh_from_db()
    assert owner.is_active


@pytest.mark.django_db(transaction=True)
def test_only_one_of_several_concurrent_deletions_is_made(person: User) -> None:
    factories.WorkspaceFactory(owner_user=person)
    token = as_user(person).token
    answers = in_threads(6, lambda _: delete(ApiClient(token), person))

    assert [answer.status_code for answer in answers].count(200) == 1
    assert {answer.status_code for answer in answers} <= {200, 401, 404}
    assert AuditEntry.objects.filter(outcome="succeeded").count() == 2
