"""The JSON-RPC layer of the Model Context Protocol: reads one request and checks its version and headers.

Revision 2026-07-28 is stateless and repeats the method in headers. Revisions 2025-11-25 and 2025-06-18 begin with
`initialize`; they are answered without sessions.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CURRENT_REVISION = "2026-07-28"
OLDER_REVISIONS = ("2025-11-25", "2025-06-18")
UNSUPPORTED_REVISIONS = ("2025-03-26", "2024-11-05")
META_KEY_PREFIX = "io.modelcontextprotocol/"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION = -32020, -32021, -32022
TASKS_EXTENSION = f"{META_KEY_PREFIX}tasks"
MAX_CLIENT_NAME = 64  # characters
PARAM_IN_MCP_NAME_HEADER = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}


class RpcError(Exception):
    """A JSON-RPC error for an MCP client, with the HTTP status of the response in revision 2026-07-28."""

    def __init__(self, code: int, message: str, *, id: str | int | None = None, data: Any = None) -> None:  # noqa: A002
        super().__init__(message)
        self.code, self.message, self.id, self.data = code, message, id, data

    @property
    def status(self) -> int:
        return {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 200}.get(self.code, 400)

    def body(self) -> dict[str, Any]:
        error = {"code": self.code, "message": self.message, **({"data": self.data} if self.data is not None else {})}
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


@dataclass(frozen=True)
class RpcRequest:
    """A JSON-RPC request of an MCP client, perhaps of an older revision; `id` is None for a notification."""

    method: str
    params: Mapping[str, Any]
    id: str | int | None
    is_current_revision: bool

    @property
    def meta(self) -> Mapping[str, Any]:
        meta: Mapping[str, Any] = self.params.get("_meta", {})
        return meta

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """Return the capabilities that the MCP client of this request declares; empty for clients of older revisions."""
        if not self.is_current_revision:
            return {}
        capabilities: Mapping[str, Any] = self.meta[f"{META_KEY_PREFIX}clientCapabilities"]
        return capabilities

    @property
    def client_supports_tasks(self) -> bool:
        """Return whether the MCP client of this request declares the tasks extension, as it must in each request."""
        extensions = self.client_capabilities.get("extensions")
        return isinstance(extensions, dict) and isinstance(extensions.get(TASKS_EXTENSION), dict)

    @property
    def client_name(self) -> str | None:
        """Return the name and version of the MCP client of this request, as short printable text; None if it gives none."""
        client = self.meta.get(f"{META_KEY_PREFIX}clientInfo")
        if not isinstance(client, dict):
            return None
        return _short_name("/".join(client[name] for name in ("name", "version") if isinstance(client.get(name), str)))


def user_agent_product(headers: Mapping[str, str]) -> str | None:
    """Return an MCP client's name from the User-Agent header, because older clients name themselves nowhere else."""
    product = _short_name(headers.get("User-Agent", "").partition(" ")[0])
    return product and f"{product} (User-Agent)"


def _short_name(text: str) -> str | None:
    return "".join(filter(str.isprintable, text))[:MAX_CLIENT_NAME] or None


def parse_and_check_request(body: Any, headers: Mapping[str, str]) -> RpcRequest:
    """Parse a JSON-RPC request of an MCP client, and check its body and headers. Raises RpcError."""
    if not isinstance(body, dict):
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 request or notification.")
    rpc_id = body.get("id")
    if "id" in body and (not isinstance(rpc_id, str | int) or isinstance(rpc_id, bool)):
        raise RpcError(INVALID_REQUEST, "The id must be a string or an integer.")
    if body.get("jsonrpc") != "2.0" or not isinstance(body.get("method"), str):
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 request or notification.", id=rpc_id)
    params = body.get("params", {})
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "The params must be an object.", id=rpc_id)
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        raise RpcError(INVALID_PARAMS, "The _meta must be an object.", id=rpc_id)
    version = headers.get("MCP-Protocol-Version")
    known_as_older = version is None or version in (*OLDER_REVISIONS, *UNSUPPORTED_REVISIONS)
    request = RpcRequest(
        body["method"], params, rpc_id, is_current_revision=not known_as_older or f"{META_KEY_PREFIX}protocolVersion" in meta
    )
    if not request.is_current_revision:
        _check_older(request, version)
    elif rpc_id is not None:
        _check_current(request, headers)
    return request


def _check_older(request: RpcRequest, version: str | None) -> None:
    if version not in OLDER_REVISIONS and request.method != "initialize":
        raise RpcError(INVALID_REQUEST, "Send MCP-Protocol-Version with a supported version.", id=request.id)


def _check_current(request: RpcRequest, headers: Mapping[str, str]) -> None:
    requested = request.meta.get(f"{META_KEY_PREFIX}protocolVersion")
    capabilities = request.meta.get(f"{META_KEY_PREFIX}clientCapabilities")
    if not isinstance(requested, str) or not isinstance(capabilities, dict):
        raise RpcError(
            INVALID_PARAMS,
            f"_meta must have {META_KEY_PREFIX}protocolVersion and {META_KEY_PREFIX}clientCapabilities.",
            id=request.id,
        )
    expected = {"MCP-Protocol-Version": requested, "Mcp-Method": request.method}
    if request.method in PARAM_IN_MCP_NAME_HEADER:
        expected["Mcp-Name"] = request.params.get(PARAM_IN_MCP_NAME_HEADER[request.method], "")
    for name, value in expected.items():
        if _decoded(headers.get(name, "").strip()) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {name} is missing or differs from the body.", id=request.id)
    if requested != CURRENT_REVISION:
        data = {"supported": [CURRENT_REVISION, *OLDER_REVISIONS], "requested": requested}
        raise RpcError(UNSUPPORTED_VERSION, "This protocol version is not supported.", id=request.id, data=data)


def _decoded(value: str) -> str | None:
    """Return the value of an MCP request's header, which may be encoded as `=?base64?…?=`; None if it cannot be decoded."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[len("=?base64?") : -2], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
