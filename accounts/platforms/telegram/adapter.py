"""The Telegram adapter: connects chats by a bot's token, and publishes posts as messages of the bot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.base import Platform
from accounts.platforms.errors import CredentialsRejected, ReauthRequired
from accounts.platforms.post_look import PostLook
from accounts.platforms.telegram import messages
from accounts.platforms.telegram.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA, SETUP
from accounts.platforms.telegram.chats import Chat, fetch_postable_chat
from accounts.platforms.telegram.client import API_BASE, NEW_TOKEN_ADVICE, BotApi
from accounts.platforms.types import AuthorizedAccount, Content, Grant, Identity, Progress, Published


class Telegram(Platform):
    """The adapter that connects Telegram channels, groups and private chats and publishes to them.

    The steps are `start`, which builds the request, and `send`, which sends it, at most once; the state is the request. A
    grant's tokens are {chat_id, chat_type, chat_username}. The external_id is the id that the chat had when it was connected;
    a group that becomes a supergroup gets a new id, which is stored as renewed tokens are. Revoking does nothing: only the
    bot's owner can revoke its token, with @BotFather.
    """

    name = "telegram"
    label = "Telegram"
    icon = "telegram"
    colour = "#1c93cc"
    look = PostLook(layout="chat", at_sign=False, card_off=("link_preview", False))
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials",)
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"send"})

    def connect_with_credentials(self, credentials: Mapping[str, Any]) -> AuthorizedAccount:
        """Adapter method that connects a Telegram chat, if the bot's token is valid and the bot may post to the chat.

        Raises CredentialsRejected, Transient.
        """
        given = {name: credentials[name].strip() for name in ("bot_token", "chat_id")}
        try:
            chat = fetch_postable_chat(self._api(given), given["chat_id"])
        except ReauthRequired as error:
            raise CredentialsRejected(error.message, suggested_action=error.suggested_action) from error
        external_id = str(chat.id)
        grant = Grant(credentials=given, tokens=chat.fields_to_store(), external_id=external_id)
        return AuthorizedAccount(identity=chat.identity(external_id), grant=grant)

    def check_and_identify(self, grant: Grant) -> Identity:
        """Adapter method that checks whether the bot of a connected Telegram chat still exists and may post there.

        Raises TokenExpired if the chat has a new id, ReauthRequired, Transient.
        """
        chat = self._chat(grant)
        if chat.id != grant.tokens["chat_id"]:
            raise chat.changed_id_error()
        return chat.identity(grant.external_id)

    def refresh_grant(self, grant: Grant) -> Grant:
        """Adapter method that returns a Telegram chat's secrets with the id that the chat got on becoming a supergroup.

        Raises ReauthRequired if the chat has no new id, since bots' tokens do not expire; Transient.
        """
        chat = self._chat(grant)
        if chat.id == grant.tokens["chat_id"]:
            raise ReauthRequired(gettext_noop("Telegram does not renew a bot's token."), suggested_action=NEW_TOKEN_ADVICE)
        return replace(grant, tokens=chat.fields_to_store())

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step at Telegram: build the request of the message, or send it."""
        if progress.phase == "start":
            return Progress("send", messages.build_request(content))
        return messages.send_request(
            self._api(grant.credentials), Chat.from_stored_fields(grant.tokens), progress.state, content.media
        )

    def _chat(self, grant: Grant) -> Chat:
        return fetch_postable_chat(self._api(grant.credentials), grant.tokens["chat_id"])

    def _api(self, credentials: Mapping[str, Any]) -> BotApi:
        base = self.platform_setting("API_BASE", API_BASE).rstrip("/")
        return BotApi(base, credentials["bot_token"])
