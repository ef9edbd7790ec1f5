"""Errors of outbound requests, by whether the request may be repeated.

OutboundError
  NotSent               no part of the request was sent: it may be repeated
    DestinationRefused  the destination is not allowed: repeating does not help
    DestinationUnresolved  no address was found in time: repeating may help
  NoAnswer              the request may have been processed: repeat it only if that is harmless
    ResponseTooLarge    the answer is longer than the caller reads
"""

from __future__ import annotations


class OutboundError(Exception):
    """An outbound request did not get a complete answer."""


class NotSent(OutboundError):
    """No byte of the request was sent: the DNS lookup, the connection or the TLS handshake failed."""


class DestinationRefused(NotSent):
    """The destination is not allowed; the exception's cause is the DestinationNotAllowed."""


class DestinationUnresolved(NotSent):
    """The host name has no address, or the name servers did not answer in time."""


class NoAnswer(OutboundError):
    """The request was sent, at least in part, but no complete answer came: time-out, reset or invalid body."""


class ResponseTooLarge(NoAnswer):
    """The answer's body is longer than the caller allows."""


def error_summary(fault: Exception) -> str:
    """Describe an exception by its type and system message. A library's own message may contain a header with a token."""
    words = getattr(fault, "strerror", None)
    return f"{type(fault).__name__}: {words}" if words else type(fault).__name__
