"""What can go wrong with an outbound request, told apart by whether it may be repeated.

OutboundError
  NotSent               nothing of the request was written: it may be repeated
    DestinationRefused  the destination is not allowed: repeating is of no use
  NoAnswer              the request may have been processed: repeat it only where that does no harm
    ResponseTooLarge    there was an answer, longer than the caller reads
"""

from __future__ import annotations


class OutboundError(Exception):
    """An outbound request did not end with a whole answer."""


class NotSent(OutboundError):
    """Not one byte of the request was written: no address, no connection, or no TLS."""


class DestinationRefused(NotSent):
    """The service does not connect to this destination; the cause is the DestinationNotAllowed."""


class NoAnswer(OutboundError):
    """The request was begun, and no whole answer came: time-out, reset or a broken body."""


class ResponseTooLarge(NoAnswer):
    """The answer's body is longer than the caller allows."""


def summary(fault: Exception) -> str:
    """Name a fault by its type and the system's words; a library's own message may quote a header, and so a token."""
    words = getattr(fault, "strerror", None)
    return f"{type(fault).__name__}: {words}" if words else type(fault).__name__
