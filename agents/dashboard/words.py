"""Scopes and modes as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from config.api.caller import Mode
from config.api.scopes import SCOPES

# What the holder of a workspace's key may do, in the order of config/api/scopes.py.
KEY_SCOPES = {
    "posts.read": "See posts, what became of them, and their webhook deliveries",
    "posts.draft": "Write drafts",
    "posts.schedule": "Schedule posts, and cancel scheduled ones",
    "posts.publish": "Publish posts, send failed ones again, and repeat webhook deliveries",
    "media.upload": "Upload and delete pictures, videos and files",
    "accounts.read": "See the connected accounts, and check whether they work",
    "accounts.write": "Connect and disconnect accounts",
    "usage.read": "See what is used and what it costs",
    "logs.read": "Read the audit log",
    "api_keys.write": "Administer: agents, API keys, budget caps, the webhook signing secret, "
    "export and deletion of the workspace",
}
AGENT_SCOPES = KEY_SCOPES | {"api_keys.write": "Nothing: agents cannot administer"}

# Name and meaning of each mode, from the narrowest to the widest.
MODES = {
    Mode.DRY_RUN: ("Only tries things", "It sees what would happen. Nothing is saved, scheduled or published."),
    Mode.DRAFT: ("Writes drafts", "It saves drafts. A person decides what becomes of them."),
    Mode.REQUIRES_CONFIRMATION: (
        "Asks first",
        "What it publishes or schedules waits under Approvals until a person says yes.",
    ),
    Mode.ALLOW_PUBLISH: ("Publishes by itself", "It publishes and schedules without asking, within its caps."),
}


def scopes_in_words(scopes: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """What the scopes allow, in their own order."""
    return [words[scope] for scope in SCOPES if scope in scopes]
