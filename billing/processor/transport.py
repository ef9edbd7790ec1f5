"""Sends the requests of the processor's client library through config.outbound, with a total time limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import stripe

from config import outbound

TIMEOUT_SECONDS = 10.0
MAX_ANSWER_BYTES = 10_000_000


class OutboundClient(stripe.HTTPClient):
    """HTTP client for the processor's client library. The cause of each APIConnectionError is an OutboundError."""

    name = "outbound"

    def request(
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: Any = None, **unused: Any
    ) -> tuple[str, int, Mapping[str, str]]:
        """Send one request and return body, status and headers of the response."""
        try:
            answer = outbound.request(
                method, url, headers=headers, data=post_data, timeout=TIMEOUT_SECONDS, max_bytes=MAX_ANSWER_BYTES
            )
        except outbound.OutboundError as error:
            may_work_again = not isinstance(error, outbound.DestinationRefused | outbound.ResponseTooLarge)
            raise stripe.APIConnectionError(str(error), should_retry=may_work_again) from error
        return answer.body.decode(errors="replace"), answer.status, answer.headers

    def close(self) -> None:
        """Do nothing, because no connection is open between requests."""
