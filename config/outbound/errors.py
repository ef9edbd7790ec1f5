"""The errors of outbound requests; their type shows whether the request may be repeated.

OutboundError
  NotSent               no part of the request was sent: it may be repeated
    NotSentToForbiddenHost   our rules forbid the destination: repeating does not help
    DestinationUnresolved  no address was found in time: repeating may help
  SentWithoutAnswer     no complete answer, but the request may have been processed: repeat it only if that is harmless
    ResponseTooLarge    the answer is longer than the caller reads
"""

from __future__ import annotations


class OutboundError(Exception):
    """The base class of errors of an outbound request that got no complete response."""


class NotSent(OutboundError):
    """The error when no byte of an outbound request was sent: the DNS lookup, the connection or TLS failed."""


class NotSentToForbiddenHost(NotSent):
    """The error when an outbound request was not sent because its destination is forbidden, such as an internal server."""


class DestinationUnresolved(NotSent):
    """The error when DNS has no IP address for the host of an outbound request, or does not answer in time."""


class SentWithoutAnswer(OutboundError):
    """The error when an outbound request was sent, perhaps in part, but no complete response came."""


class ResponseTooLarge(SentWithoutAnswer):
    """The error when the response to an outbound request is longer than its caller allows."""


def error_summary(fault: Exception) -> str:
    """Describe an exception of an outbound request by its class and system error, without the HTTP library's message."""
    words = getattr(fault, "strerror", None)
    return f"{type(fault).__name__}: {words}" if words else type(fault).__name__
