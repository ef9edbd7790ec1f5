"""The API view that lists a workspace's audit log."""

from __future__ import annotations

from auditlog import selectors
from auditlog.csv_export import stream_queryset_as_csv
from auditlog.serializers import LogPage, LogsQuery
from config.api.operation import Call, Reply, operation
from config.api.paging import page_response_body, paginate_newest_first
from config.api.policies import Access
from config.api.views import OperationViewSet


class LogViewSet(OperationViewSet):
    @operation(
        "logs.list",
        summary="Read a workspace's audit log, newest first",
        access=Access("logs.read"),
        query=LogsQuery,
        responses={200: LogPage},
        media_types=("text/csv",),
        errors=("NOT_FOUND",),
    )
    def list(self, call: Call) -> Reply:
        return reply_with_audit_entries_or_csv(call, name=f"logs-{call.query['workspace_id']}")


def reply_with_audit_entries_or_csv(call: Call, *, name: str, **filters: str) -> Reply:
    """Return the audit log view's reply: a page of entries as JSON, or all of them as the CSV file `<name>.csv`."""
    query = {**call.query, **filters}
    response_format, limit, cursor = query.pop("format"), query.pop("limit"), query.pop("cursor", None)
    entries = selectors.audit_entries_of_workspace(caller=call.caller, **query)
    if response_format == "csv":
        return Reply(None, response=stream_queryset_as_csv(entries, name))
    return Reply(page_response_body("logs", paginate_newest_first(entries, limit=limit, cursor=cursor)))
