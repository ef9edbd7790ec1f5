"""Tests of GET /users/{id}/export."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import time_machine

from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace


def test_a_user_exports_their_own_data(db: None) -> None:
    with time_machine.travel(datetime(2027, 3, 10, 12, tzinfo=UTC), tick=False):
        user = factories.UserFactory(
            email="me@example.com", display_name="Me", identity_issuer="https://id.example", identity_subject="42"
        )
        made = [factories.WorkspaceFactory(owner_user=user, status=one) for one in ("active", "paused", "deleted")]
        made.append(factories.WorkspaceFactory(owner_user=user))
        answer = as_user(user).get(f"/users/{user.id}/export")

    body = answer.json()
    owned = body.pop("owned_workspaces")
    assert (answer.status_code, body) == (
        200,
        {
            "exported_at": "2027-03-10T12:00:00Z",
            "user": {
                "id": user.id,
                "identity_provider_user_id": "42",
                "email": "me@example.com",
                "display_name": "Me",
                "created_at": "2027-03-10T12:00:00Z",
                "updated_at": "2027-03-10T12:00:00Z",
                "deleted": False,
            },
        },
    )
    assert [(row["id"], row["owner_user_id"], row["status"]) for row in owned] == [
        (made[3].id, user.id, "active"),
        (made[0].id, user.id, "active"),
    ]


def test_each_export_writes_an_audit_entry(owner: User, teammate: User, api: ApiClient) -> None:
    for client in (as_user(owner), as_user(teammate), api):
        client.get(f"/users/{owner.id}/export")

    entries = AuditEntry.objects.filter(operation="users.export").order_by("pk")
    assert list(entries.values_list("actor_type", "outcome", "code", "resource_id")) == [
        ("user", "succeeded", None, owner.id),
        ("user", "refused", "NOT_FOUND", ""),
        ("api_key", "refused", "USER_SESSION_REQUIRED", ""),
    ]


def test_fields_without_a_value_are_left_out(db: None) -> None:
    user = factories.UserFactory(display_name="")

    shown = as_user(user).get(f"/users/{user.id}/export").json()["user"]

    assert set(shown) == {"id", "email", "created_at", "updated_at", "deleted"}


def test_other_callers_cannot_export(
    api: ApiClient, owner: User, workspace: Workspace, teammate: User, agent_client: Callable[..., ApiClient]
) -> None:
    for client in (api, agent_client()):
        assert_envelope(client.get(f"/users/{owner.id}/export"), 403, "USER_SESSION_REQUIRED")
    bodies = [
        assert_envelope(as_user(teammate).get(f"/users/{one}/export"), 404, "NOT_FOUND") | {"trace_id": ""}
        for one in (owner.id, new_id("usr"))
    ]
    assert bodies[0] == bodies[1]
