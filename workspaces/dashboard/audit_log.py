"""The dashboard's audit log page: the filtered list of a workspace's audit entries, and its CSV download."""

from __future__ import annotations

import json

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext as _

from auditlog import selectors
from auditlog.csv_export import stream_queryset_as_csv
from auditlog.models import ActorType, AuditEntry, RetentionTier
from auditlog.retention import RETENTION_DAYS
from config.api.errors import ValidationFailed
from config.api.paging import paginate_newest_first
from workspaces.dashboard.forms import ACTOR_LABELS, AuditLogFilterForm
from workspaces.selectors import user_name_by_id
from workspaces.workspace_page import WorkspacePage, workspace_page

PER_PAGE = 50


@workspace_page()
def show_audit_log(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show the workspace's audit log entries that match the filters, newest first."""
    form = AuditLogFilterForm(page.request.GET, zone=page.zone)
    entries = selectors.audit_entries_of_workspace(caller=page.caller, workspace_id=page.workspace.id, **form.filters)
    found = paginate_newest_first(entries, limit=PER_PAGE, cursor=page.request.GET.get("cursor"))
    names = user_name_by_id(user_ids=[entry.actor_id for entry in found.rows if entry.actor_type == ActorType.USER])
    return page.render(
        "workspaces/audit_log.html",
        form=form,
        rows=[(entry, names.get(entry.actor_id) or _actor_label(entry), _metadata_text(entry)) for entry in found.rows],
        next_cursor=found.next_cursor,
        retention_days=RETENTION_DAYS[RetentionTier(page.workspace.retention_tier)],
    )


@workspace_page()
def download_audit_log_csv(page: WorkspacePage) -> StreamingHttpResponse:
    """Dashboard page: download the matching audit log entries as CSV. Raises ValidationFailed for invalid filters."""
    form = AuditLogFilterForm(page.request.GET, zone=page.zone)
    filters = form.filters
    if form.errors:
        raise ValidationFailed(_("The filters are not valid."), suggested_action=_("Go back and correct them."))
    entries = selectors.audit_entries_of_workspace(caller=page.caller, workspace_id=page.workspace.id, **filters)
    return stream_queryset_as_csv(entries, f"logs-{page.workspace.id}")


def _actor_label(entry: AuditEntry) -> str:
    """Return the kind of actor that caused an audit entry, such as "an agent", for the audit log page."""
    label = str(ACTOR_LABELS.get(entry.actor_type, entry.actor_type))
    return label[:1].lower() + label[1:]


def _metadata_text(entry: AuditEntry) -> str:
    """Return the metadata of an audit log entry as one line of text for the audit log page."""
    parts = (f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in entry.metadata.items())
    return " · ".join(parts)
