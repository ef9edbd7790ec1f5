"""Names and descriptions of scopes and agent modes for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from config.api.caller import AgentMode
from config.api.scopes import SCOPES

# What a workspace key with the scope may do, in the order of config/api/scopes.py.
KEY_SCOPE_LABELS = {
    "posts.read": "See posts, their results, and their webhook deliveries",
    "posts.draft": "Write drafts",
    "posts.schedule": "Schedule posts, and cancel scheduled ones",
    "posts.publish": "Publish posts, send failed ones again, and repeat webhook deliveries",
    "media.upload": "Upload and delete pictures, videos and files",
    "accounts.read": "See the connected accounts, and check whether they work",
    "accounts.write": "Connect and disconnect accounts",
    "usage.read": "See usage and costs",
    "logs.read": "Read the audit log",
    "api_keys.write": "Administer: agents, API keys, budget caps, the webhook signing secret, "
    "export and deletion of the workspace",
}
AGENT_SCOPE_LABELS = KEY_SCOPE_LABELS | {"api_keys.write": "Nothing: agents cannot administer"}

# (name, description) of each mode, from the most to the least restricted.
MODE_LABELS = {
    AgentMode.DRY_RUN: ("Only tries things", "It sees what would happen. Nothing is saved, scheduled or published."),
    AgentMode.DRAFT: ("Writes drafts", "It saves drafts. A person decides whether to publish them."),
    AgentMode.REQUIRES_CONFIRMATION: (
        "Asks first",
        "What it publishes or schedules waits under Approvals until a person says yes.",
    ),
    AgentMode.ALLOW_PUBLISH: ("Publishes by itself", "It publishes and schedules without asking, within its caps."),
}


def scope_labels(scopes: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Return the labels of the scopes, in the order of config/api/scopes.py."""
    return [labels[scope] for scope in SCOPES if scope in scopes]
