"""The MCP tool add_media, which fetches a file from a URL into the media library."""

from __future__ import annotations

from typing import Any

from config.api.caller import AgentMode, Caller
from config.api.serializers import StrictSerializer, shared_serializer_instance
from config.mcp.answers import OUTSIDE_TEXT_NOTE
from config.mcp.declaration import Tool, copy_of_serializer_field, only_workspace_id_of_caller
from media.serializers import DryRunMediaSerializer, MediaSerializer, UploadFromUrlSerializer
from media.services import upload_media

_SHOWN = ("id", "kind", "filename", "mime_type", "size_bytes", "width", "height", "duration_ms", "alt_text", "sha256", "scan")


class AddMediaArguments(StrictSerializer):
    """The arguments of the MCP tool add_media."""

    source_url = copy_of_serializer_field(UploadFromUrlSerializer, "source_url")
    alt_text = copy_of_serializer_field(UploadFromUrlSerializer, "alt_text")


def add_media(caller: Caller, **arguments: Any) -> dict[str, Any]:
    """Run the MCP tool add_media: fetch, scan and store a file. In dry_run mode, return only whether it is accepted."""
    dry_run = caller.mode == AgentMode.DRY_RUN
    asset = upload_media(caller=caller, workspace_id=only_workspace_id_of_caller(caller), dry_run=dry_run, **arguments)
    serializer = DryRunMediaSerializer if dry_run else MediaSerializer
    full = shared_serializer_instance(serializer).to_representation(asset)
    refused = {
        each["platform"]: [issue["message"] for issue in each["issues"] if issue["severity"] == "error"]
        for each in full["platforms"]
        if not each["ok"]
    }
    done = f"Attach it with media: [{{media_id: {asset.id}}}] in plan_post."
    return {
        "note": OUTSIDE_TEXT_NOTE,
        "media": {name: full[name] for name in _SHOWN if name in full},
        "refused_by": refused,
        "dry_run": dry_run,
        "next": "Nothing was stored, because this agent may only try things." if dry_run else done,
    }


ADD_MEDIA = Tool(
    name="add_media",
    title="Add a picture, video or document",
    description="Fetch a file from a public https URL into the media library, to attach it to posts. It is scanned; "
    "refused_by names the platforms that would not take it, with their reasons.",
    output={
        "media": {"type": "object", "properties": {"id": {"type": "string"}}},
        "refused_by": {"type": "object"},
        "dry_run": {"type": "boolean"},
        "next": {"type": "string"},
    },
    run=add_media,
    arguments=AddMediaArguments,
    operation="media.upload",
    scope="media.upload",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True},
)
