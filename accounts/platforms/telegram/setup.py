"""Telegram needs no setup by the operator: owners connect bots of their own. Source: core.telegram.org/bots."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup

SETUP = OperatorSetup(
    {
        "credentials": "The token of a bot, which they create with @BotFather, and the chat's name or id. The bot has "
        "to be an administrator of a channel, or a member of a group."
    }
)
