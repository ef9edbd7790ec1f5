"""Entries that the tests of reading start from."""

from __future__ import annotations

from typing import Any

from auditlog.models import AuditEntry
from workspaces.models import Workspace


def make_entry(workspace: Workspace, **fields: Any) -> AuditEntry:
    """A success of a workspace's key, unless `fields` say otherwise."""
    told = {
        "actor_type": "api_key",
        "actor_id": "key_1",
        "operation": "posts.create",
        "outcome": "succeeded",
        "trace_id": "0" * 32,
        "retention_tier": "free",
    }
    return AuditEntry.objects.create(workspace_id=workspace.id, **{**told, **fields})
