"""The audit log: who tried what, and what came of it."""

from __future__ import annotations

import json

from django.http import HttpResponse, StreamingHttpResponse

from auditlog import selectors
from auditlog.csv_export import csv_response
from auditlog.models import ActorType, AuditEntry, RetentionTier
from auditlog.retention import DAYS
from config.api.errors import ValidationFailed
from config.api.paging import paginate
from workspaces.dashboard.forms import WHO, LogFilterForm
from workspaces.frame import WorkspacePage, workspace_page
from workspaces.selectors import names_of

PER_PAGE = 50


@workspace_page()
def audit_log(page: WorkspacePage) -> HttpResponse:
    """The workspace's entries that fit the filters, newest first."""
    form = LogFilterForm(page.request.GET, zone=page.zone)
    entries = selectors.entries_of(caller=page.caller, workspace_id=page.workspace.id, **form.filters)
    found = paginate(entries, limit=PER_PAGE, cursor=page.request.GET.get("cursor"))
    names = names_of(user_ids=[entry.actor_id for entry in found.rows if entry.actor_type == ActorType.USER])
    return page.render(
        "workspaces/audit_log.html",
        form=form,
        rows=[(entry, names.get(entry.actor_id) or _kind(entry), _facts(entry)) for entry in found.rows],
        next_cursor=found.next_cursor,
        kept_days=DAYS[RetentionTier(page.workspace.retention_tier)],
    )


@workspace_page()
def audit_csv(page: WorkspacePage) -> StreamingHttpResponse:
    """All entries that fit the filters, as a file. Raises ValidationFailed for filters that are not right."""
    form = LogFilterForm(page.request.GET, zone=page.zone)
    filters = form.filters
    if form.errors:
        raise ValidationFailed("These filters are not right.", suggested_action="Go back and correct them.")
    entries = selectors.entries_of(caller=page.caller, workspace_id=page.workspace.id, **filters)
    return csv_response(entries, f"logs-{page.workspace.id}")


def _kind(entry: AuditEntry) -> str:
    """What sort of actor it was, inside a sentence."""
    words = WHO.get(entry.actor_type, entry.actor_type)
    return words[:1].lower() + words[1:]


def _facts(entry: AuditEntry) -> str:
    """What else belongs to the entry, in a line."""
    facts = (
        f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in entry.metadata.items()
    )
    return " · ".join(facts)
