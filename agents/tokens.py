"""The format of bearer tokens: a prefix such as `sps_key_`, 43 random base62 characters and a CRC32 checksum.

The checksum lets secret scanners recognize real tokens, and refuses a mistyped one without a query. Only the SHA-256 is
stored: 256 random bits need no slow hash. Pattern: `sps_(key|agt|clm|oat|ort|oac|odc|cal)_[0-9A-Za-z]{49}`. oat, ort,
oac and odc are the OAuth server's access tokens, refresh tokens, authorization codes and device codes; cal stands in the
addresses of calendar feeds, and is no bearer token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import zlib

from django.core import signing
from django.utils.crypto import salted_hmac

RANDOM_LENGTH = 43  # characters with 256 bits
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
WORKSPACE_KEY_PREFIX, AGENT_KEY_PREFIX = "sps_key_", "sps_agt_"
CLAIM_TOKEN_PREFIX, USER_TOKEN_PREFIX = "sps_clm_", "sps_usr_"
ACCESS_TOKEN_PREFIX, REFRESH_TOKEN_PREFIX = "sps_oat_", "sps_ort_"
AUTHORIZATION_CODE_PREFIX, DEVICE_CODE_PREFIX = "sps_oac_", "sps_odc_"
CALENDAR_FEED_PREFIX = "sps_cal_"
SHOWN_KEY_PREFIX_LENGTH = 12  # leading characters of a key that are shown
DEVELOPMENT_TOKEN_SECONDS = 12 * 3600
_TOKEN_PATTERN = re.compile(r"(sps_(?:key|agt|clm|oat|ort|oac|odc|cal)_[0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_SALT = "agents.user-token"


def generate_token(kind: str) -> str:
    """Return a new random token that begins with the prefix `kind`, such as `sps_key_`. It is not stored."""
    body = kind + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + _checksum(body)


def derive_token(kind: str, credential: str) -> str:
    """Derive a bearer token from a credential, such as a refresh token; the same credential always gives the same token.

    So a repeated request can be answered again although the service stores only hashes of tokens.
    """
    digest = salted_hmac(f"agents.tokens.{kind}", credential, algorithm="sha256").digest()
    body = kind + _base62(int.from_bytes(digest), RANDOM_LENGTH)
    return body + _checksum(body)


def is_well_formed_token(token: str) -> bool:
    """Return whether a text has the format and the correct checksum of one of this service's tokens."""
    match = _TOKEN_PATTERN.fullmatch(token)
    return match is not None and hmac.compare_digest(_checksum(match.group(1)), match.group(2))


def is_oauth_token(token: str) -> bool:
    """Return whether a token has the format of an access or refresh token of this service's OAuth server."""
    return token.startswith((ACCESS_TOKEN_PREFIX, REFRESH_TOKEN_PREFIX))


def token_digest(token: str) -> str:
    """Return the SHA-256 of a bearer token, which is stored in place of the token."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_development_user_token(user_id: str) -> str:
    """Make a bearer token in the format for users: signed, for development only, and valid for 12 hours."""
    return USER_TOKEN_PREFIX + signing.TimestampSigner(sep=".", salt=_SALT).sign(user_id)


def user_id_from_development_token(token: str) -> str | None:
    """Return the user id in a development user's token; None if the token is forged or older than 12 hours."""
    try:
        signer = signing.TimestampSigner(sep=".", salt=_SALT)
        return signer.unsign(token.removeprefix(USER_TOKEN_PREFIX), max_age=DEVELOPMENT_TOKEN_SECONDS)
    except signing.BadSignature:
        return None


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), 6)


def _base62(number: int, length: int) -> str:
    digits = ""
    for _ in range(length):
        number, rest = divmod(number, 62)
        digits = ALPHABET[rest] + digits
    return digits
