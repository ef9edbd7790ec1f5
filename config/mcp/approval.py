"""Asks a person, through the MCP client, to open the page on which they approve a post (the result `input_required`).

The client's "accept" only means that the person will open the page. The repeated call reports what they have decided by then.
The state that the client sends back is signed and belongs to one caller and one call; it grants nothing, so repeating it is
harmless.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.core import signing

from config.api.caller import Caller
from config.mcp.protocol import INVALID_PARAMS, RpcError, RpcRequest

SALT = "config.mcp.approval"
STATE_SECONDS = 3600


def client_can_ask_to_open_page(rpc: RpcRequest) -> bool:
    """Return whether the client of a request can ask a person to open a page (elicitation in URL mode)."""
    elicitation = rpc.client_capabilities.get("elicitation")
    return rpc.is_current_revision and isinstance(elicitation, dict) and "url" in elicitation


def is_call_repeated_after_approval_request(rpc: RpcRequest, caller: Caller) -> bool:
    """Return whether an MCP client repeats a tool call after the person was asked to approve the post (`input_required`).

    Raises RpcError if the state that the client sends back has expired or belongs to another call.
    """
    state = rpc.params.get("requestState")
    if not isinstance(rpc.params.get("inputResponses", {}), dict):
        raise RpcError(INVALID_PARAMS, "inputResponses must be an object.", id=rpc.id)
    if state is None:
        return False
    try:
        stated = signing.loads(state, salt=SALT, max_age=STATE_SECONDS) if isinstance(state, str) else None
    except signing.BadSignature:
        stated = None
    if stated != _call_of(rpc, caller):
        raise RpcError(INVALID_PARAMS, "This requestState has expired or belongs to another call.", id=rpc.id)
    return True


def approval_required_result(rpc: RpcRequest, caller: Caller, url: str) -> dict[str, Any]:
    """Return the MCP result `input_required`, which asks the client to show the page of the post to approve."""
    return {
        "resultType": "input_required",
        "inputRequests": request_to_open_approval_page(url),
        "requestState": signing.dumps(_call_of(rpc, caller), salt=SALT),
    }


def request_to_open_approval_page(url: str) -> dict[str, Any]:
    """Return the MCP request that asks the client to let a person open the page of the post to approve."""
    message = "This post goes out only if you approve it. Open its page, read it, and approve or reject it there."
    params = {"mode": "url", "message": message, "url": url}
    return {"approval": {"method": "elicitation/create", "params": params}}


def _call_of(rpc: RpcRequest, caller: Caller) -> list[str]:
    """Return the MCP call for which approval is asked: the caller, the method, the tool, and a digest of the arguments."""
    called = [rpc.params.get("name"), rpc.params.get("arguments", {})]
    digest = hashlib.sha256(json.dumps(called, sort_keys=True).encode()).hexdigest()
    return [caller.idempotency_key_owner, rpc.method, digest]
