"""The check of a webhook address when it is given; each delivery checks again when it connects."""

from __future__ import annotations

from config.api.errors import WebhookUrlNotAllowed
from config.outbound import DestinationNotAllowed, check_destination


def check_webhook_url(url: str | None) -> None:
    """Raises WebhookUrlNotAllowed for an address that events are never sent to; a name that does not resolve passes."""
    if url is None:
        return
    try:
        check_destination(url)
    except DestinationNotAllowed as error:
        raise WebhookUrlNotAllowed(f"Events are not sent to this address: {error.reason}") from error
