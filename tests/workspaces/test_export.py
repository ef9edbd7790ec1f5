"""Tests of GET /workspaces/{id}/export."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import time_machine

from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import Member, User, Workspace


@pytest.mark.parametrize("status", ["active", "paused"])
def test_the_owner_and_a_workspace_key_get_the_workspace(
    owner: User, key_with: Callable[..., ApiClient], status: str
) -> None:
    with time_machine.travel(datetime(2027, 3, 10, 12, tzinfo=UTC), tick=False):
        workspace = factories.WorkspaceFactory(owner_user=owner, name="Acme", slug="acme", status=status)
        key = ApiClient(factories.workspace_key(workspace, ["api_keys.write"]))
        answers = [client.get(f"/workspaces/{workspace.id}/export") for client in (as_user(owner), key)]

    for answer in answers:
        assert (answer.status_code, answer.json()) == (
            200,
            {
                "exported_at": "2027-03-10T12:00:00Z",
                "workspace": {
                    "id": workspace.id,
                    "name": "Acme",
                    "slug": "acme",
                    "owner_user_id": owner.id,
                    "processor_customer_id": "",
                    "default_timezone": "UTC",
                    "free_monthly_credit_cents": 100,
                    "monthly_spend_cap_cents": 0,
                    "monthly_social_url_post_cap": 0,
                    "status": status,
                    "created_at": "2027-03-10T12:00:00Z",
                    "updated_at": "2027-03-10T12:00:00Z",
                },
            },
        )
    entries = AuditEntry.objects.order_by("pk").values_list("operation", "actor_type", "workspace_id", "resource_id", "code")
    assert list(entries) == [("workspaces.export", kind, workspace.id, workspace.id, None) for kind in ("user", "api_key")]


def test_other_callers_cannot_export(
    workspace: Workspace,
    teammate: User,
    stranger: User,
    agent_client: Callable[..., ApiClient],
    key_with: Callable[..., ApiClient],
) -> None:
    path = f"/workspaces/{workspace.id}/export"

    for role in ("member", "admin"):
        Member.objects.filter(user=teammate).update(role=role)
        assert_envelope(as_user(teammate).get(path), 403, "FORBIDDEN")
    assert_envelope(agent_client().get(path), 403, "FORBIDDEN")
    assert_envelope(key_with("logs.read").get(path), 403, "SCOPE_MISSING")
    foreign = assert_envelope(as_user(stranger).get(path), 404, "NOT_FOUND")
    absent = assert_envelope(as_user(stranger).get(f"/workspaces/{new_id('wrk')}/export"), 404, "NOT_FOUND")
    assert foreign | {"trace_id": ""} == absent | {"trace_id": ""}
    refused = AuditEntry.objects.filter(operation="workspaces.export", outcome="refused").order_by("pk")
    assert list(refused.values_list("code", flat=True)) == ["FORBIDDEN"] * 3 + ["SCOPE_MISSING"] + ["NOT_FOUND"] * 2
