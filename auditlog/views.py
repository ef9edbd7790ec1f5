"""The audit log over the API."""

from __future__ import annotations

from auditlog import selectors
from auditlog.csv_export import csv_response
from auditlog.serializers import LogPage, LogsQuery
from config.api.operation import Call, Reply, operation
from config.api.paging import page_body, paginate
from config.api.views import OperationViewSet


class LogViewSet(OperationViewSet):
    @operation(
        "logs.list",
        summary="Read a workspace's audit log, newest first",
        scope="logs.read",
        query=LogsQuery,
        responses={200: LogPage},
        media_types=("text/csv",),
        errors=("NOT_FOUND",),
    )
    def list(self, call: Call) -> Reply:
        return logs_reply(call, name=f"logs-{call.query['workspace_id']}")


def logs_reply(call: Call, *, name: str, **filters: str) -> Reply:
    """Entries as the call's query and `filters` want them: a page of JSON, or all of them as the file `<name>.csv`."""
    wanted = {**call.query, **filters}
    form, limit, cursor = wanted.pop("format"), wanted.pop("limit"), wanted.pop("cursor", None)
    entries = selectors.entries_of(caller=call.caller, **wanted)
    if form == "csv":
        return Reply(None, response=csv_response(entries, name))
    return Reply(page_body("logs", paginate(entries, limit=limit, cursor=cursor)))
