"""Creates audit entries for tests."""

from __future__ import annotations

from typing import Any

from auditlog.models import AuditEntry
from workspaces.models import Workspace


def make_entry(workspace: Workspace, **fields: Any) -> AuditEntry:
    """Create an audit entry, by default a successful write of a workspace key."""
    defaults = {
        "actor_type": "api_key",
        "actor_id": "key_1",
        "operation": "posts.create",
        "outcome": "succeeded",
        "trace_id": "0" * 32,
        "retention_tier": "free",
    }
    return AuditEntry.objects.create(workspace_id=workspace.id, **{**defaults, **fields})
