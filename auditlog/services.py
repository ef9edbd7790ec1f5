"""Services that write entries to the audit log.

Each writing service records its success in its own transaction. The API records refusals after the rollback
(`record_refusal`, set as REFUSAL_RECORDER).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db import DatabaseError

from auditlog.models import AuditEntry
from config.api.caller import Caller
from config.api.error_handlers import error_code_of_exception
from config.api.trace import current_trace_id
from config.db.writes import Write, build_insert_writes

logger = logging.getLogger(__name__)


def record_entry(
    *,
    caller: Caller,
    operation: str,
    workspace_id: str | None = None,
    resource_type: str = "",
    resource_id: str = "",
    dry_run: bool = False,
    metadata: dict[str, Any] | None = None,
    refused_with: str | None = None,
) -> AuditEntry:
    """Write one audit log entry: the caller did an operation on a resource, or was refused with an error code.

    `metadata` contains no personal text.
    """
    entry = _entry(
        caller,
        operation,
        workspace_id=workspace_id or caller.workspace_id or "",
        resource_type=resource_type,
        resource_id=resource_id,
        outcome=AuditEntry.Outcome.REFUSED if refused_with else AuditEntry.Outcome.SUCCEEDED,
        code=refused_with,
        dry_run=dry_run,
        metadata=metadata or {},
    )
    entry.save(force_insert=True)
    return entry


def build_success_entry_writes(
    *, caller: Caller, operation: str, workspace_id: str, resource_type: str, resources: Mapping[str, dict[str, Any]]
) -> list[Write]:
    """Return the database writes that add a successful operation's audit log entries, one for each changed resource.

    `resources` maps ids to metadata.
    """
    return build_insert_writes(
        [
            _entry(
                caller,
                operation,
                workspace_id=workspace_id,
                resource_type=resource_type,
                resource_id=resource_id,
                outcome=AuditEntry.Outcome.SUCCEEDED,
                metadata=metadata,
            )
            for resource_id, metadata in resources.items()
        ]
    )


def record_refusal(*, caller: Caller, operation: str, error: Exception, dry_run: bool) -> None:
    """Write the audit log entry of a write operation that was refused, with the error code.

    If the database fails, the failure is only logged.
    """
    try:
        record_entry(caller=caller, operation=operation, dry_run=dry_run, refused_with=error_code_of_exception(error))
    except DatabaseError as fault:
        logger.error("A refusal of %s could not be recorded: %s", operation, fault)


def _entry(caller: Caller, operation: str, *, metadata: dict[str, Any], **fields: Any) -> AuditEntry:
    return AuditEntry(
        actor_type=caller.actor_type,
        actor_id=caller.actor_id,
        via=caller.via,
        operation=operation,
        ip=caller.ip,
        trace_id=current_trace_id(),
        retention_tier=caller.retention_tier,
        metadata={**metadata, "client": caller.client} if caller.client else metadata,
        **fields,
    )
