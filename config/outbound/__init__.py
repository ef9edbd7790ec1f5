"""The HTTP client for all outbound requests: to platforms and to URLs that users supply."""

from __future__ import annotations

from config.outbound.addresses import address_allowed, is_loopback_address, is_public_address
from config.outbound.async_client import PostAnswer, create_session, post
from config.outbound.client import Response, download, multipart, request
from config.outbound.deadline import total_deadline
from config.outbound.destinations import (
    Destination,
    DestinationNotAllowed,
    check_destinations,
    check_url,
)
from config.outbound.errors import DestinationRefused, NoAnswer, NotSent, OutboundError, ResponseTooLarge
from config.outbound.resolver import DestinationUnresolved

__all__ = [
    "Destination",
    "DestinationNotAllowed",
    "DestinationRefused",
    "DestinationUnresolved",
    "NoAnswer",
    "NotSent",
    "OutboundError",
    "PostAnswer",
    "Response",
    "ResponseTooLarge",
    "address_allowed",
    "check_destinations",
    "check_url",
    "create_session",
    "download",
    "is_loopback_address",
    "is_public_address",
    "multipart",
    "post",
    "request",
    "total_deadline",
]
