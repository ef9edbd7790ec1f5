"""The client for all outbound HTTP requests: to platforms, and to URLs that users supply."""

from __future__ import annotations

from config.outbound.async_client import PostAnswer, create_session, post
from config.outbound.client import Response, download, multipart, request
from config.outbound.deadline import total_deadline
from config.outbound.destinations import DestinationNotAllowed, check_destinations, check_url_syntax
from config.outbound.errors import DestinationRefused, NoAnswer, NotSent, OutboundError, ResponseTooLarge

__all__ = [
    "DestinationNotAllowed",
    "DestinationRefused",
    "NoAnswer",
    "NotSent",
    "OutboundError",
    "PostAnswer",
    "Response",
    "ResponseTooLarge",
    "check_destinations",
    "check_url_syntax",
    "create_session",
    "download",
    "multipart",
    "post",
    "request",
    "total_deadline",
]
