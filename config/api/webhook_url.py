"""The check of a webhook address when it is given; each delivery checks again when it connects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from config.api.errors import WebhookUrlNotAllowed
from config.api.fields import Text
from config.outbound import DestinationNotAllowed, check_destinations, check_url

MAX_LENGTH = 2048
LOOKUP_SECONDS = 3.0


class WebhookUrl(Text):
    """A webhook address in a body. Its name is resolved here, before any transaction; one that does not resolve passes.

    Raises WebhookUrlNotAllowed.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_LENGTH, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        self.run_validators(url)
        _refuse(lambda url: check_destinations([url], seconds=LOOKUP_SECONDS), url)
        return url


def check_webhook_url(url: str | None) -> None:
    """The form alone, for services, which may run inside a transaction. Raises WebhookUrlNotAllowed."""
    if url is not None:
        _refuse(check_url, url)


def _refuse(check: Callable[[str], object], url: str) -> None:
    try:
        check(url)
    except DestinationNotAllowed as error:
        raise WebhookUrlNotAllowed(f"Events are not sent to this address: {error.reason}") from error
