"""Discord: a channel, connected by the address of a webhook that its owner has made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.base import Platform
from accounts.platforms.discord import message
from accounts.platforms.discord.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA
from accounts.platforms.discord.setup import SETUP
from accounts.platforms.discord.webhook import (
    SNOWFLAKE,
    DiscordError,
    UnreadableAnswer,
    Webhook,
    line,
    look,
    platform_error,
    webhook,
)
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, PlatformError
from accounts.platforms.types import Connection, Content, Grant, Identity, Progress, Published
from config.outbound import OutboundError

INCOMING = 1  # the type of webhook that posts messages by its token
_AVATAR = re.compile(r"[A-Za-z0-9_]{1,64}")


class Discord(Platform):
    """Publishing in two steps: `start` does nothing, `send` posts the message, once.

    A grant's tokens are {channel_id, guild_id}: where the webhook posts. Revoking does nothing, for the webhook is its
    owner's and may serve others as well.
    """

    name = "discord"
    label = "Discord"
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials",)
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"send"})

    def unavailable_reason(self, method: str) -> str | None:
        """None: Discord needs no set-up by the operator."""
        return None

    def connect(self, credentials: Mapping[str, Any]) -> Connection:
        """Ask for the webhook by its address. Raises CredentialsRejected, Transient."""
        hook = self._webhook(credentials)
        try:
            told = self._told(hook)
        except OutboundError as error:
            raise platform_error(error) from error
        except DiscordError as error:
            raise _refused_connection(error) from error
        if told.get("type", INCOMING) != INCOMING:
            raise CredentialsRejected("This webhook posts no messages: it is not an incoming webhook.")
        tokens = {key: _snowflake(told.get(key)) for key in ("channel_id", "guild_id")}
        grant = Grant(credentials=dict(credentials), tokens=tokens, external_id=hook.id)
        return Connection(identity=_identity(told), grant=grant)

    def identify(self, grant: Grant) -> Identity:
        """Ask for the webhook again. Raises AccountDisconnected, Transient."""
        try:
            return _identity(self._told(self._webhook(grant.credentials)))
        except (OutboundError, DiscordError) as error:
            raise platform_error(error) from error

    def refresh(self, grant: Grant) -> Grant:
        """Raises AccountDisconnected: a webhook has no tokens that could be renewed."""
        raise AccountDisconnected("A Discord webhook cannot be renewed by the service.")

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names; neither needs a state."""
        if progress.phase == "start":
            return Progress("send")
        return message.send(self._webhook(grant.credentials), grant.tokens["guild_id"], content)

    def _webhook(self, credentials: Mapping[str, Any]) -> Webhook:
        return webhook(credentials["webhook_url"], self.setting("API_BASE").rstrip("/"))

    def _told(self, hook: Webhook) -> dict[str, Any]:
        """What Discord tells of the webhook, which is certain to be about this one."""
        told = look(hook)
        if told.get("id") != hook.id:
            raise UnreadableAnswer("The answer is not about this webhook.")
        return told


def _identity(told: Mapping[str, Any]) -> Identity:
    webhook_id = told["id"]
    channel_id, guild_id = _snowflake(told.get("channel_id")), _snowflake(told.get("guild_id"))
    name, avatar = line(told.get("name")), told.get("avatar")
    pictured = isinstance(avatar, str) and _AVATAR.fullmatch(avatar)
    return Identity(
        external_id=webhook_id,
        handle=name or f"webhook {webhook_id}",
        display_name=name,
        avatar_url=f"https://cdn.discordapp.com/avatars/{webhook_id}/{avatar}.png" if pictured else "",
        profile_url=message.channel_url(guild_id, channel_id) if channel_id else "",
    )


def _snowflake(value: Any) -> str:
    """An id of Discord; empty for anything else."""
    return value if isinstance(value, str) and SNOWFLAKE.fullmatch(value) else ""


def _refused_connection(error: DiscordError) -> PlatformError:
    fault = platform_error(error)
    if isinstance(fault, AccountDisconnected) or error.status == 400:
        return CredentialsRejected(
            f"Discord does not know this webhook: {error.reason}",
            suggested_action="Look whether the webhook still exists, copy its whole address and connect again.",
        )
    return fault
