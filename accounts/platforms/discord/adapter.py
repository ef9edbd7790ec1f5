"""The Discord adapter: connects channels by the URL of a webhook that their owner has created, and posts messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.base import Platform
from accounts.platforms.discord import message
from accounts.platforms.discord.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA, SETUP
from accounts.platforms.discord.client import ERRORS, SNOWFLAKE, WebhookClient, webhook_client
from accounts.platforms.errors import ContentRejected, CredentialsRejected, ReauthRequired
from accounts.platforms.http.responses import UnreadableAnswer, one_line
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import AuthorizedAccount, Content, Grant, Identity, Progress, Published

INCOMING_WEBHOOK_TYPE = 1  # the type of webhook that posts messages by its token
_AVATAR = re.compile(r"[A-Za-z0-9_]{1,64}")


class Discord(Platform):
    """The adapter that connects Discord channels by webhooks and publishes to them.

    The steps are `start`, which does nothing, and `send`, which posts the message, once; neither needs a state. A grant's
    tokens are {channel_id, guild_id}: where the webhook posts. Revoking does nothing: the webhook is its owner's and may be
    used by others too.
    """

    name = "discord"
    label = "Discord"
    icon = "discord"
    colour = "#5865f2"
    look = PostLook(layout="chat", at_sign=False, card_off=("suppress_embeds", True))
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials",)
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"send"})

    def connect_with_credentials(self, credentials: Mapping[str, Any]) -> AuthorizedAccount:
        """Adapter method that connects a Discord channel by its webhook's URL. Raises CredentialsRejected, Transient."""
        hook = self._webhook(credentials)
        try:
            with ERRORS.translating_content_call_errors(gettext_noop("this webhook")):
                details = _details(hook)
        except (ReauthRequired, ContentRejected) as error:
            raise CredentialsRejected(
                error.message,
                suggested_action=gettext_noop(
                    "Check that the webhook still exists, copy its whole address and connect again."
                ),
            ) from error
        if details.get("type", INCOMING_WEBHOOK_TYPE) != INCOMING_WEBHOOK_TYPE:
            raise CredentialsRejected(gettext_noop("This webhook posts no messages: it is not an incoming webhook."))
        tokens = {key: _snowflake(details.get(key)) for key in ("channel_id", "guild_id")}
        grant = Grant(credentials=dict(credentials), tokens=tokens, external_id=hook.id)
        return AuthorizedAccount(identity=_identity(details), grant=grant)

    def check_and_identify(self, grant: Grant) -> Identity:
        """Adapter method that checks that a Discord channel's webhook still exists. Raises ReauthRequired, Transient."""
        with ERRORS.translating_repeatable_call_errors():
            return _identity(_details(self._webhook(grant.credentials)))

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the only step of publishing at Discord: it sends the message by the webhook.

        The first step does nothing.
        """
        if progress.phase == "start":
            return Progress("send")
        return message.send_message(self._webhook(grant.credentials), grant.tokens["guild_id"], content)

    def _webhook(self, credentials: Mapping[str, Any]) -> WebhookClient:
        return webhook_client(credentials["webhook_url"], self.platform_setting("API_BASE").rstrip("/"))


def _details(hook: WebhookClient) -> dict[str, Any]:
    """Fetch the description of the webhook with which the Discord adapter connects or checks a channel."""
    details = hook.get("")
    if details.get("id") != hook.id:
        raise UnreadableAnswer("The response is not about this webhook.")
    return details


def _identity(details: Mapping[str, Any]) -> Identity:
    webhook_id = details["id"]
    channel_id, guild_id = _snowflake(details.get("channel_id")), _snowflake(details.get("guild_id"))
    name, avatar = one_line(details.get("name")), details.get("avatar")
    has_avatar = isinstance(avatar, str) and _AVATAR.fullmatch(avatar)
    return Identity(
        external_id=webhook_id,
        handle=name or f"webhook {webhook_id}",
        display_name=name,
        avatar_url=f"https://cdn.discordapp.com/avatars/{webhook_id}/{avatar}.png" if has_avatar else "",
        profile_url=message.channel_url(guild_id, channel_id) if channel_id else "",
    )


def _snowflake(value: Any) -> str:
    """Return a channel's or server's id for the Discord adapter to store; empty if it is not a number (snowflake)."""
    return value if isinstance(value, str) and SNOWFLAKE.fullmatch(value) else ""
