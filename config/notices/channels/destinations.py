"""The destinations of notice channels: checks what a person entered, and builds the URL to which messages are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.registry import get_adapter
from accounts.platforms.slack.webhook import webhook_client
from accounts.platforms.telegram.capabilities import CREDENTIALS_SCHEMA
from accounts.platforms.telegram.client import API_BASE
from config.api.caller import Caller
from config.api.errors import ValidationFailed, WebhookUrlNotAllowed
from config.api.webhook_url import check_webhook_hosts, check_webhook_url_without_lookup
from config.notices.models import ChannelKind

# What a person enters for a channel of each kind.
DESTINATION_FIELDS: dict[ChannelKind, tuple[str, ...]] = {
    ChannelKind.SLACK: ("webhook_url",),
    ChannelKind.TELEGRAM: ("bot_token", "chat_id"),
    ChannelKind.WEBHOOK: ("url",),
}


def checked_destination(kind: ChannelKind, given: Mapping[str, str], caller: Caller) -> dict[str, str]:
    """Check the destination that a person entered for a notice channel; return it as it is stored. Raises ValidationFailed.

    The host of a webhook is looked up, so no transaction may be open.
    """
    destination = {name: given[name].strip() for name in DESTINATION_FIELDS[kind]}
    if kind == ChannelKind.SLACK:
        return {"webhook_url": _slack_webhook_url(destination["webhook_url"])}
    if kind == ChannelKind.TELEGRAM:
        _check_bot_and_chat(destination)
        return destination
    try:
        check_webhook_url_without_lookup(destination["url"])
        check_webhook_hosts([destination["url"]], caller)
    except WebhookUrlNotAllowed as error:
        raise ValidationFailed.for_field("url", error.message) from error
    return destination


def url_to_send_messages_to(kind: str, destination: Mapping[str, str]) -> str:
    """Return the URL to which the messages of a notice channel are sent; for Slack and Telegram it contains a secret."""
    if kind == ChannelKind.SLACK:
        return destination["webhook_url"]
    if kind == ChannelKind.TELEGRAM:
        base = get_adapter(ChannelKind.TELEGRAM.value).platform_setting("API_BASE", API_BASE).rstrip("/")
        return f"{base}/bot{destination['bot_token']}/sendMessage"
    return destination["url"]


def message_body_with_telegram_chat(kind: str, destination: Mapping[str, str], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notice's JSON as it is sent to a channel's destination: for Telegram with `chat_id`, otherwise unchanged."""
    return {"chat_id": destination["chat_id"], **body} if kind == ChannelKind.TELEGRAM else {**body}


def _slack_webhook_url(given: str) -> str:
    try:
        return webhook_client(given, get_adapter(ChannelKind.SLACK.value).platform_setting("API_BASE")).address
    except CredentialsRejected as error:
        message = gettext_noop("This is not the address of an incoming webhook of Slack, https://hooks.slack.com/services/…")
        raise ValidationFailed.for_field("webhook_url", message) from error


def _check_bot_and_chat(destination: Mapping[str, str]) -> None:
    rules: Any = CREDENTIALS_SCHEMA["properties"]
    problems = {
        "bot_token": gettext_noop("This is not the token of a bot. @BotFather shows it: digits, a colon, letters."),
        "chat_id": gettext_noop("Enter the id of the chat, such as -1001234567890, or its @name."),
    }
    for name, message in problems.items():
        if len(destination[name]) > rules[name]["maxLength"] or not re.search(rules[name]["pattern"], destination[name]):
            raise ValidationFailed.for_field(name, message)
