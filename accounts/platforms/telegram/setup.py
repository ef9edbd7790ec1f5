"""Telegram needs nothing of the operator: owners bring bots of their own. Source: core.telegram.org/bots."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup

SETUP = OperatorSetup(
    {
        "credentials": "The token of a bot, which they make with @BotFather, and the chat's name or number. The bot has "
        "to be an administrator of a channel, or a member of a group."
    }
)
