"""Helpers that run admin actions and read the operators' audit entries."""

from __future__ import annotations

from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from auditlog.models import AuditEntry
from workspaces.models import User


def operator_audit_entries(operation: str) -> list[tuple[str, str, bool, str | None]]:
    """Return (workspace, resource, dry run, error code) of each audit entry of operators, oldest first."""
    entries = AuditEntry.objects.filter(operation=operation, actor_type="system", via="operator").order_by("pk")
    return list(entries.values_list("workspace_id", "resource_id", "dry_run", "code"))


def act(operator: Client, action: str, *rows: Model, query: str = "", **fields: str) -> list[str]:
    """Run an admin action on rows of one table, from the list with this query, and return its messages.

    It must ask first and change nothing until it is confirmed, and then lead back to the list with the query. `fields` are
    those of the confirmation's form.
    """
    opts = rows[0]._meta
    path = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist") + query
    chosen: dict[str, Any] = {"action": action, "_selected_action": [row.pk for row in rows]}
    before = AuditEntry.objects.count()
    page = operator.post(path, {**chosen, "index": "0"})
    html = page.content.decode()
    assert escape(page.context["warning"]) in html
    assert f"This concerns {len(rows)} " in html
    assert f'href="{escape(path)}">Cancel' in html
    assert AuditEntry.objects.count() == before
    answer = operator.post(path, {**chosen, "confirmed": "yes", **fields}, follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain == [(path, 302)]
    return [str(message) for message in answer.context["messages"]]


def console_audit_entries() -> list[tuple[str, str, str, str | None]]:
    """Return (operation, workspace, resource, error code) of each audit entry of the signed-in operator."""
    actor = User.objects.get(username="operator").pk
    entries = AuditEntry.objects.filter(actor_id=actor, actor_type="system", via="operator").order_by("pk")
    assert set(entries.values_list("retention_tier", flat=True)) <= {"enterprise"}
    return list(entries.values_list("operation", "workspace_id", "resource_id", "code"))
