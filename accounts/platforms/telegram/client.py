"""The client for Telegram's Bot API, and the translation of its errors.

A call is `<address>/bot<token>/<method>`. The token is a part of the URL, so no URL may reach a message or a log, and the
token is removed from what Telegram says. Errors are `{"ok": false, "description", "parameters"?}`. Source:
core.telegram.org/bots/api (Making requests, ResponseParameters) and its server, tdlib/telegram-bot-api.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from django.utils.translation import gettext_noop

from accounts.platforms.errors import OutcomeUnknown, PlatformError, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import json_object_or_none, object_or_empty, wait_seconds_from_json
from config.outbound import OutboundError, Response, build_multipart_body

API_BASE = "https://api.telegram.org"
UPLOAD_TIMEOUT_SECONDS = 180.0  # 50 MB at 300 kB per second

NEW_TOKEN_ADVICE = gettext_noop("Copy the bot's token from @BotFather once more and connect the account with it.")
ADD_BOT_ADVICE = gettext_noop(
    "Add the bot to the chat and let it post there (to a channel as an administrator), then connect the account."
)

# Refusals with status 400 that are about the bot's rights in the chat, whatever the post says.
_ABOUT_THE_BOT = re.compile(
    r"chat not found|not enough rights(?! to send polls)|no rights to send|administrator rights"
    r"|upgraded to a supergroup|logged out"
    r"|CHAT_\w*FORBIDDEN|CHAT_RESTRICTED|CHAT_ADMIN_REQUIRED|USER_BANNED_IN_CHANNEL|CHANNEL_PRIVATE|PEER_ID_INVALID",
    re.IGNORECASE,
)
# Documented refusals of a post. Telegram quotes the post in them, so others are reported to the operator by status only.
_ABOUT_THE_POST = re.compile(
    r"too long|too big|is empty|parse entities|not found|wrong (?:file|type|remote)|invalid|group send failed"
    r"|\bpolls?\b|POLL_|failed to get|TOPIC_|PHOTO_|IMAGE_|VIDEO_|MEDIA_|WEBPAGE_|ENTITIES_|ENTITY_|BUTTON_|REPLY_",
    re.IGNORECASE,
)
# One message of an album failed; the others may have been sent.
_ABOUT_A_PART = re.compile(r"failed to send message #", re.IGNORECASE)


class BotApiError(PlatformHttpError):
    """An error response of Telegram's Bot API; `moved_to` is the new id of a chat whose id has changed, otherwise None."""

    def __init__(self, response: Response, token: str) -> None:
        content = json_object_or_none(response) or {}
        description, parameters = content.get("description"), object_or_empty(content.get("parameters"))
        super().__init__(response, reason=description.replace(token, "<token>") if isinstance(description, str) else "")
        self.from_api = content.get("ok") is False and response.status >= 400
        waiting = wait_seconds_from_json(parameters.get("retry_after"))
        self.retry_after = self.retry_after if waiting is None else waiting
        moved_to = parameters.get("migrate_to_chat_id")
        self.moved_to: int | None = moved_to if type(moved_to) is int else None


class BotApi(JsonClient):
    """The client of Telegram's Bot API for one bot, at the server with the URL `address`."""

    error = BotApiError
    timeout_seconds = 20.0
    max_bytes = 262_144

    def call_method(
        self,
        method: str,
        fields: Mapping[str, Any] | None = None,
        files: Mapping[str, tuple[str, BinaryIO, str]] | None = None,
    ) -> Any:
        """Call a method of Telegram's Bot API, with files if there are any, and return the method's result.

        `files` are (name, opened file, MIME type) by the name of their part. Raises BotApiError, NotSent, SentWithoutAnswer.
        """
        body: dict[str, Any] = {"json": dict(fields or {})}
        if files:
            texts = {name: each if isinstance(each, str) else json.dumps(each) for name, each in (fields or {}).items()}
            data = build_multipart_body({**texts, **files})
            headers = {"Content-Type": data.content_type}
            body = {"data": data, "headers": headers, "timeout": UPLOAD_TIMEOUT_SECONDS}
        response = self.send_to_url("POST", f"{self.address}/bot{self.token}/{method}", **body)
        return (json_object_or_none(response) or {}).get("result")

    def headers(self) -> dict[str, str]:
        """Return the HTTP headers of the Telegram client's calls, without the bot's token, which is in the URL."""
        return {"Accept": "application/json"}

    def is_success(self, response: Response) -> bool:
        """Return whether a response of Telegram's Bot API reports success."""
        return super().is_success(response) and (json_object_or_none(response) or {}).get("ok") is True

    def parse_http_error(self, response: Response) -> BotApiError:
        """Return the error in a response of Telegram's Bot API, with the bot's token removed from its text."""
        return BotApiError(response, self.token)


class TelegramErrorTranslator(ErrorTranslator[BotApiError]):
    """The translation of errors of Telegram's Bot API into platform errors.

    A response that does not come from the API says nothing about the bot or the post.
    """

    name = "telegram"
    label = "Telegram"
    error = BotApiError
    content_statuses = frozenset({400, 413})

    def platform_specific_error(self, error: BotApiError) -> PlatformError | None:
        """Return the PlatformError for Telegram's errors about the bot or the server; None for other errors."""
        if not error.from_api:
            return None if error.status in (413, 429) else self.transient_error(error)
        if _ABOUT_A_PART.search(error.reason):
            return OutcomeUnknown(f"Telegram may have sent a part of the album: {error.reason}")
        if error.status in (401, 404):
            return ReauthRequired(
                gettext_noop("Telegram does not accept the bot's token."), suggested_action=NEW_TOKEN_ADVICE
            )
        if error.status == 403 or (error.status == 400 and _ABOUT_THE_BOT.search(error.reason)):
            return self.missing_bot_permission_error(error)
        return None

    def translate_repeatable_call_error(self, error: OutboundError | BotApiError) -> PlatformError:
        """Return the PlatformError for an error of a Telegram call that does not send a post, such as a check of the bot.

        A bad request then concerns the bot or the chat.
        """
        if isinstance(error, BotApiError) and error.from_api and error.status == 400:
            return self.missing_bot_permission_error(error)
        return super().translate_repeatable_call_error(error)

    def missing_bot_permission_error(self, error: BotApiError) -> ReauthRequired:
        """Translate an error of Telegram's Bot API about a permission that the bot lacks, such as to post."""
        return ReauthRequired(f"Telegram refuses the bot: {error.reason}", suggested_action=ADD_BOT_ADVICE)

    def request_may_have_taken_effect(self, error: BotApiError) -> bool:
        """Return whether Telegram may have sent the post although it answered with this error.

        Telegram also answers 500 for a message that was sent and cannot be shown.
        """
        return error.status >= 500 or not (error.from_api or error.status == 413)

    def is_documented_refusal(self, error: BotApiError) -> bool:
        """Return whether the Telegram error is one of the documented reasons to refuse a post."""
        return error.status == 413 or _ABOUT_THE_POST.search(error.reason) is not None


ERRORS = TelegramErrorTranslator()
