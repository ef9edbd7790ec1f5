"""The package of the client for all outbound HTTP requests: to platforms, and to URLs that users supply.

Webhook deliveries use `config.outbound.async_client`, which only workers import, because aiohttp takes long to load.
"""

from __future__ import annotations

from config.outbound.client import Response, build_multipart_body, download, request
from config.outbound.deadline import total_deadline
from config.outbound.destinations import DestinationNotAllowed, check_url_without_lookup, check_urls_with_lookup
from config.outbound.errors import NotSent, NotSentToForbiddenHost, OutboundError, ResponseTooLarge, SentWithoutAnswer

__all__ = [
    "DestinationNotAllowed",
    "NotSent",
    "NotSentToForbiddenHost",
    "OutboundError",
    "Response",
    "ResponseTooLarge",
    "SentWithoutAnswer",
    "build_multipart_body",
    "check_url_without_lookup",
    "check_urls_with_lookup",
    "download",
    "request",
    "total_deadline",
]
