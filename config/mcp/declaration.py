"""A tool of the Model Context Protocol endpoint: what tools/list says about it, and how a call of it is checked and run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from rest_framework import serializers

from config.api.caller import AgentMode, Caller, require_scope
from config.api.errors import Forbidden
from config.api.scopes import AlternativeScopes
from config.api.serializers import StrictSerializer, shared_serializer_instance
from config.mcp.json_schema import json_schema_of_serializer
from workspaces.selectors import list_visible_workspaces_of_owner

READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def copy_of_serializer_field(serializer: type[serializers.Serializer], name: str) -> Any:
    """Return a copy of a field of an API serializer, to declare an argument of an MCP tool."""
    return copy.deepcopy(serializer._declared_fields[name])


class NoArguments(StrictSerializer):
    """The empty arguments of an MCP tool that takes none."""


@dataclass(frozen=True)
class Tool:
    """The declaration of an MCP tool: its description, the serializer of its arguments, its output schema, and its function.

    `run` gets the caller and the arguments by name. `operation` is the API operation for which a refused call leaves an audit
    entry, as over HTTP; "" for tools that only read. A caller needs the `scope`, if there is one.
    """

    name: str
    title: str
    description: str
    output: Mapping[str, Any]
    run: Callable[..., dict[str, Any]]
    arguments: type[StrictSerializer] = NoArguments
    operation: str = ""
    scope: str | AlternativeScopes | None = None
    hints: Mapping[str, bool] | None = None
    asks_for_approval: bool = False  # a client that can show pages is asked to show the one of an `approval_url`

    def tools_list_entry(self) -> dict[str, Any]:
        """Return the declaration of this MCP tool as tools/list shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": json_schema_of_serializer(self.arguments),
            "outputSchema": {"type": "object", "properties": self.output},
            "annotations": {"title": self.title, **(self.hints or READ_ONLY)},
        }

    def call(self, caller: Caller, arguments: Any) -> dict[str, Any]:
        """Check the arguments, run this MCP tool and return its content. Raises ApiError, ValidationError."""
        try:
            given = shared_serializer_instance(self.arguments).run_validation(arguments)
            if not caller.is_user:
                require_scope(caller, self.scope)
            return self.run(caller, **given)
        except Exception as error:
            if self.operation:
                dry_run = caller.mode == AgentMode.DRY_RUN
                import_string(settings.REFUSAL_RECORDER)(
                    caller=caller, operation=self.operation, error=error, dry_run=dry_run
                )
            raise


def only_workspace_id_of_caller(caller: Caller) -> str:
    """Return the one workspace in which MCP tools work for a caller: that of its key, or the only one that a person owns."""
    if caller.workspace_id is not None:
        return caller.workspace_id
    owned = list_visible_workspaces_of_owner(caller=caller, owner_user_id=caller.actor_id, limit=2).rows
    if len(owned) != 1:
        raise Forbidden(
            "These tools work in one workspace, and this token opens several or none.",
            suggested_action="Connect with the key of a workspace or of an agent.",
        )
    return str(owned[0].id)
