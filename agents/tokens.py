"""Tokens: `sps_key_`, `sps_agt_` or `sps_clm_`, 43 base62 characters of randomness and 6 of CRC32.

The checksum lets a secret scanner tell a real token from noise, and refuses a mistyped one before any look-up. Only the
SHA-256 is stored: 256 bits of randomness need no slow hash. Pattern: `sps_(key|agt|clm)_[0-9A-Za-z]{49}`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib

from django.core import signing

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
WORKSPACE_KEY, AGENT_KEY, CLAIM, USER = "sps_key_", "sps_agt_", "sps_clm_", "sps_usr_"
PREFIX_LENGTH = 12  # how much of a key is shown to tell it from others
USER_TOKEN_SECONDS = 12 * 3600
_FORM = re.compile(r"(sps_(?:key|agt|clm)_[0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_SALT = "agents.user-token"


def new_token(kind: str) -> str:
    body = kind + "".join(secrets.choice(ALPHABET) for _ in range(43))
    return body + _checksum(body)


def is_well_formed(token: str) -> bool:
    """Whether the form and the checksum are right."""
    match = _FORM.fullmatch(token)
    return match is not None and hmac.compare_digest(_checksum(match.group(1)), match.group(2))


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_user_token(user_id: str) -> str:
    """A signed token by which development's own user calls the API for 12 hours."""
    return USER + signing.TimestampSigner(sep=".", salt=_SALT).sign(user_id)


def read_user_token(token: str) -> str | None:
    """The user's id, or None for a token that is forged or older than 12 hours."""
    try:
        signer = signing.TimestampSigner(sep=".", salt=_SALT)
        return signer.unsign(token.removeprefix(USER), max_age=USER_TOKEN_SECONDS)
    except signing.BadSignature:
        return None


def _checksum(text: str) -> str:
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        digits = ALPHABET[rest] + digits
    return digits
