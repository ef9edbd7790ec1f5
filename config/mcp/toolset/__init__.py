"""The package of the Model Context Protocol tools, and their list in the order in which tools/list shows them."""

from __future__ import annotations

from collections.abc import Mapping

from config.mcp.declaration import Tool
from config.mcp.toolset.context import CONTEXT
from config.mcp.toolset.media import ADD_MEDIA
from config.mcp.toolset.plans import COMMIT_PLAN, PLAN_CHANGE, PLAN_POST
from config.mcp.toolset.posts import FIND_POSTS, GET_POST
from config.mcp.toolset.usage import USAGE

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (CONTEXT, PLAN_POST, PLAN_CHANGE, COMMIT_PLAN, FIND_POSTS, GET_POST, ADD_MEDIA, USAGE)
}
