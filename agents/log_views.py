"""API view of one agent's audit log."""

from __future__ import annotations

from agents import selectors
from auditlog.serializers import AgentLogsQuery, LogPage
from auditlog.views import logs_reply
from config.api.operation import Call, Reply, operation
from config.api.views import OperationViewSet


class AgentLogViewSet(OperationViewSet):
    @operation(
        "agents.logs",
        summary="Read what an agent did or tried, newest first",
        scope="logs.read",
        query=AgentLogsQuery,
        responses={200: LogPage},
        media_types=("text/csv",),
        errors=("NOT_FOUND",),
    )
    def list(self, call: Call, agent_id: str) -> Reply:
        agent = selectors.agent_of(caller=call.caller, agent_id=agent_id, scope="logs.read")
        return logs_reply(call, name=f"logs-{agent.id}", workspace_id=agent.workspace_id, actor_id=agent.id)
