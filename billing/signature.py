"""Verifies the payment processor's event signatures: HMAC-SHA256 over the time, a dot, and the raw body.

The header is `t=<unix seconds>,v1=<hex>`, with one more v1 for each secret during a rotation.
Source: Stripe's documentation, "Verify webhook signatures manually".
"""

from __future__ import annotations

import hashlib
import hmac
import re

from django.utils import timezone

from billing.errors import SignatureInvalid

TOLERANCE_SECONDS = 300
_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)


def verify_signature(header: str, body: bytes, *, secret: str) -> None:
    """Raise SignatureInvalid unless the header signs this body with a recent time."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    if len(times) != 1 or not _TIME.fullmatch(times[0]):
        raise SignatureInvalid("The signature header must be `t=<unix seconds>,v1=<hex>`.")
    expected = hmac.new(secret.encode(), f"{times[0]}.".encode() + body, hashlib.sha256).hexdigest().encode()
    matches = [hmac.compare_digest(value.encode(), expected) for name, _, value in pairs if name == "v1"]
    if not any(matches):
        raise SignatureInvalid()
    if abs(timezone.now().timestamp() - int(times[0])) > TOLERANCE_SECONDS:
        raise SignatureInvalid("The signature is too old, or the clocks differ by more than five minutes.")
