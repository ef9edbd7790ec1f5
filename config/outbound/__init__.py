"""The only way to the network: for addresses that users supply, and for the calls to platforms."""

from __future__ import annotations

from config.outbound.addresses import address_allowed, is_loopback_address, is_public_address
from config.outbound.asynchronous import Answer, create_session, post
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
    "Answer",
    "Destination",
    "DestinationNotAllowed",
    "DestinationRefused",
    "DestinationUnresolved",
    "NoAnswer",
    "NotSent",
    "OutboundError",
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
