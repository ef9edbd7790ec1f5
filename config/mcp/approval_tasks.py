"""The MCP extension `io.modelcontextprotocol/tasks`: a committed post that waits for a person's approval is a task.

A task needs no row of its own: its id names the post group and the plan, and its status follows from the group. It is
completed when the person has decided, with the post group as its result; a cancelled post is a cancelled task.
"""

from __future__ import annotations

from typing import Any

from config.api.caller import Caller
from config.api.error_handlers import log_and_convert_to_api_error
from config.api.errors import InternalError
from config.mcp.answers import tool_result
from config.mcp.approval import client_can_ask_to_open_page, request_to_open_approval_page
from config.mcp.protocol import INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY, TASKS_EXTENSION, RpcError, RpcRequest
from config.mcp.toolset import TOOLS
from posts.states import GroupStatus

POLL_MS = 10_000
TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")


def client_can_handle_approval_task(rpc: RpcRequest, caller: Caller) -> bool:
    """Return whether an MCP client supports approval tasks: can handle tasks, show a person a page, and read the post."""
    return (
        rpc.client_supports_tasks and client_can_ask_to_open_page(rpc) and (caller.is_user or caller.has_scope("posts.read"))
    )


def task_created_result(content: dict[str, Any]) -> dict[str, Any]:
    """Return the MCP result that turns a tool call into a task; `content` is commit_plan's answer, with an `approval_url`."""
    return {**_task(f"{content['post_group']['id']}.{content['plan_id']}", content), "resultType": "task"}


def run_task_method(rpc: RpcRequest, caller: Caller) -> dict[str, Any]:
    """Run an MCP method for approval tasks (TASK_METHODS); the client's own input is ignored: only a person can approve.

    Raises RpcError, also if there is no such task.
    """
    if not rpc.client_supports_tasks:
        wanted: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
        raise RpcError(MISSING_CAPABILITY, "This method needs the tasks extension.", id=rpc.id, data=wanted)
    task_id = rpc.params.get("taskId")
    group_id, _, plan_id = task_id.partition(".") if isinstance(task_id, str) else ("", "", "")
    content = {**_used(rpc, caller, "get_post", post_group_id=group_id), "plan_id": plan_id}
    if rpc.method == "tasks/update":
        if not isinstance(rpc.params.get("inputResponses"), dict):
            raise RpcError(INVALID_PARAMS, "inputResponses must be an object.", id=rpc.id)
        return {}
    if rpc.method == "tasks/cancel":
        if "approval_url" in content:
            planned = _used(rpc, caller, "plan_change", post_group_id=group_id, change="cancel")
            _used(rpc, caller, "commit_plan", plan_id=planned["plan"]["id"])
        return {}
    task = _task(str(task_id), content)
    if task["status"] == "input_required":
        return {**task, "inputRequests": request_to_open_approval_page(content["approval_url"])}
    return task if task["status"] == "cancelled" else {**task, "result": tool_result(content)}


def _task(task_id: str, content: dict[str, Any]) -> dict[str, Any]:
    group = content["post_group"]
    ended = "cancelled" if group["status"] == GroupStatus.CANCELLED else "completed"
    waits = f"A person must approve this post at {content['approval_url']}" if "approval_url" in content else None
    return {
        "taskId": task_id,
        "status": "input_required" if waits else ended,
        "statusMessage": waits or content["next"],
        "createdAt": group["created_at"],
        "lastUpdatedAt": group["updated_at"],
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }


def _used(rpc: RpcRequest, caller: Caller, tool: str, **arguments: str) -> dict[str, Any]:
    """Call an MCP tool for an approval task and return its answer. Raises RpcError with the tool's message if it refuses."""
    try:
        return TOOLS[tool].call(caller, arguments)
    except Exception as error:
        refusal = log_and_convert_to_api_error(error)
        code = INTERNAL_ERROR if isinstance(refusal, InternalError) else INVALID_PARAMS
        raise RpcError(code, refusal.message, id=rpc.id) from error
