"""Discord needs no setup by the operator: owners connect their own webhooks. Source: docs.discord.com, Webhook Resource."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup

SETUP = OperatorSetup(
    {"credentials": "The address of a webhook, which they create in the channel's settings, under Integrations."}
)
