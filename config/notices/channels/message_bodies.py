"""The JSON in which a notice is sent to a channel: a Slack message with blocks, a Telegram message, or a webhook's body.

Sources: docs.slack.dev (Block Kit, formatting message text), core.telegram.org/bots/api (sendMessage, InlineKeyboardButton).
"""

from __future__ import annotations

from typing import Any

from accounts.platforms.counting import utf16_length
from config.api.fields import Timestamp
from config.notices.models import ChannelKind, ChannelMessage
from workspaces.services import MailListItem, MailMessage

MAX_SLACK_TITLE, MAX_SLACK_TEXT, MAX_SLACK_LABEL = 150, 3000, 75
MAX_TELEGRAM_TEXT = 4096  # in UTF-16 code units
TEST_EVENT = "test"


def build_body(queued: ChannelMessage, message: MailMessage) -> dict[str, Any]:
    """Return the body of a message to a notice channel, as JSON; `queued` is the row that will contain it.

    It has nothing of the channel's destination, which may be unreadable: `message_body_with_telegram_chat` adds that.
    """
    channel = queued.channel
    if channel.kind == ChannelKind.SLACK:
        return _slack_body(message)
    if channel.kind == ChannelKind.TELEGRAM:
        return _telegram_body(message)
    return {
        "id": str(queued.pk),
        "type": webhook_event_name(queued),
        "created_at": Timestamp().to_representation(queued.created_at),
        "workspace_id": channel.workspace_id,
        "title": message.happened,
        "items": [_webhook_item(item) for item in message.items],
        "todo": message.todo,
        "action": {"label": message.button, "url": message.address},
        "until": message.until,
    }


def webhook_event_name(queued: ChannelMessage) -> str:
    """Return the name of the event in the body of a notice to a webhook receiver, such as `notice.approval`."""
    return f"notice.{queued.notice_kind or TEST_EVENT}"


def _webhook_item(item: MailListItem) -> dict[str, str | None]:
    return {
        "text": item.text,
        "detail": item.detail or None,
        "url": item.address or None,
        "approve_url": item.approve_address or None,
        "reject_url": item.reject_address or None,
    }


def _slack_body(message: MailMessage) -> dict[str, Any]:
    """Return the body of a notice for Slack. The texts of its blocks are plain; `text`, for notifications, is escaped."""
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(message.happened, MAX_SLACK_TITLE)}]
    for number, item in enumerate(message.items):
        blocks.append({"type": "section", "text": _plain(f"{item.text}\n{item.detail}".strip())})
        if item.links:
            styles = {item.approve_address: "primary", item.reject_address: "danger"} if item.approve_address else {}
            buttons = [
                _slack_button(label, url, f"item_{number}_{place}", styles.get(url, ""))
                for place, (label, url) in enumerate(item.links)
            ]
            blocks.append({"type": "actions", "elements": buttons})
    blocks += [
        {"type": "section", "text": _plain(message.todo)},
        {"type": "actions", "elements": [_slack_button(message.button, message.address, "all")]},
        {"type": "context", "elements": [_plain(message.until)]},
    ]
    return {"text": _escaped_for_slack(message.happened), "blocks": blocks}


def _slack_button(label: str, url: str, action_id: str, style: str = "") -> dict[str, Any]:
    button = {"type": "button", "text": _plain(label, MAX_SLACK_LABEL), "url": url, "action_id": action_id}
    return {**button, "style": style} if style else button


def _plain(text: str, limit: int = MAX_SLACK_TEXT) -> dict[str, Any]:
    return {"type": "plain_text", "text": text if len(text) <= limit else f"{text[: limit - 1]}…", "emoji": False}


def _escaped_for_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _telegram_body(message: MailMessage) -> dict[str, Any]:
    """Return the body of a notice for Telegram's sendMessage, except the chat. Without a parse_mode, no text is markup."""
    several = len(message.items) > 1
    lines = [_telegram_line(item, f"{number}. " if several else "") for number, item in enumerate(message.items, start=1)]
    keyboard = [
        [{"text": f"{label} {number}" if several else label, "url": url} for label, url in item.links]
        for number, item in enumerate(message.items, start=1)
        if item.links
    ]
    keyboard.append([{"text": message.button, "url": message.address}])
    parts = [message.happened, *(["\n".join(lines)] if lines else []), message.todo, message.until]
    return {
        "text": _cut_for_telegram("\n\n".join(parts)),
        "link_preview_options": {"is_disabled": True},
        "reply_markup": {"inline_keyboard": keyboard},
    }


def _telegram_line(item: MailListItem, beginning: str) -> str:
    return f"{beginning}{item.text}" + (f"\n{item.detail}" if item.detail else "")


def _cut_for_telegram(text: str) -> str:
    if utf16_length(text) <= MAX_TELEGRAM_TEXT:
        return text
    kept = text.encode("utf-16-le")[: 2 * (MAX_TELEGRAM_TEXT - 1)].decode("utf-16-le", "ignore")
    return f"{kept}…"
