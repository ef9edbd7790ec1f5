"""Signed headers of webhook deliveries: HMAC-SHA256 over the time of the attempt, a dot, and the raw body."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from collections.abc import Sequence

EVENT_HEADER = "x-service-event"
DELIVERY_HEADER = "x-service-delivery-id"
SIGNATURE_HEADER = "x-service-signature"
SIGNED_PAYLOAD_FORMAT = "<timestamp>.<raw_body>"
ALGORITHM = "HMAC-SHA256"

SECRET_PREFIX = "whsec_"  # noqa: S105 - common prefix of all secrets
_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 43  # base62 characters: 256 bits


def new_signing_secret() -> str:
    """Return a new random secret for the signature header of webhook deliveries.

    The whole string, with its prefix, is the HMAC key.
    """
    return SECRET_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def signature_header_value(keys: Sequence[str], body: bytes, *, at: int) -> str:
    """Return the webhook signature header `t=<unix seconds>,v1=<hex>`, with one `v1` signature for each signing secret.

    A receiver needs only one signature that matches.
    """
    signed = f"{at}.".encode() + body
    digests = (hmac.new(key.encode(), signed, hashlib.sha256).hexdigest() for key in keys)
    return ",".join([f"t={at}", *(f"v1={digest}" for digest in digests)])


def delivery_headers_with_signature(delivery_id: str, event_kind: str, signature: str) -> dict[str, str]:
    """Return the signed HTTP headers of a webhook delivery, except for the user-agent."""
    return {
        "content-type": "application/json",
        EVENT_HEADER: event_kind,
        DELIVERY_HEADER: delivery_id,
        SIGNATURE_HEADER: signature,
    }
