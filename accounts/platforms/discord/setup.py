"""Discord needs nothing of the operator: owners bring webhooks. Source: docs.discord.com, Webhook Resource."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup

SETUP = OperatorSetup(
    {"credentials": "The address of a webhook, which they make in the channel's settings, under Integrations."}
)
