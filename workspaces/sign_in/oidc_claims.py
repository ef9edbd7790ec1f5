"""Reads a user's identity from OIDC claims (OpenID Connect Core 1.0, section 5.1)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MAX_SUBJECT_LENGTH = 255
MAX_NAME_LENGTH = 200
MAX_EMAIL_LENGTH = 254
NEVER = datetime.fromtimestamp(0, UTC)  # represents an unknown time of authentication
MAX_TIMESTAMP = 253_402_300_800  # end of the year 9999


class InvalidSubject(Exception):
    """The error for an OIDC claim `sub` that is missing, too long or not printable."""


@dataclass(frozen=True)
class OidcIdentity:
    """A user's identity in OIDC claims. Only issuer and subject identify the user; the other fields may change."""

    issuer: str
    subject: str
    email: str = ""
    email_verified: bool = False
    display_name: str = ""


def identity_from_claims(issuer: str, claims: Mapping[str, Any], *more: Mapping[str, Any]) -> OidcIdentity:
    """Return the user's identity in verified OIDC claims and in `more` claims, such as userinfo.

    E-mail address and `email_verified` are read from the same source, because one source cannot verify the address of
    another. Raises InvalidSubject.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_LENGTH or not subject.isprintable():
        raise InvalidSubject("The provider's token has no valid `sub`.")
    sources = (claims, *more)
    with_address = next((source for source in sources if "email" in source), claims)
    email = normalize_email(with_address.get("email"))
    names = [_name(source.get(claim)) for claim in ("name", "preferred_username") for source in sources]
    return OidcIdentity(
        issuer=issuer,
        subject=subject,
        email=email,
        email_verified=bool(email) and with_address.get("email_verified") in (True, "true"),  # some providers send text
        display_name=next(filter(None, names), ""),
    )


def normalize_email(value: object) -> str:
    """Return an OIDC claim's valid e-mail address in lower case, as it is stored and compared; "" for other values.

    Only ASCII letters are lowered. Some other letters lower to ASCII ones, which could make two different addresses equal.
    """
    if not isinstance(value, str):
        return ""
    address = "".join(sign.lower() if sign.isascii() else sign for sign in value.strip())
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address if len(address) <= MAX_EMAIL_LENGTH else ""


def auth_time_from_claims(claims: Mapping[str, Any]) -> datetime | None:
    """Return when the user authenticated at the provider, by the OIDC claim `auth_time`; None without one."""
    seconds = claims.get("auth_time")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < MAX_TIMESTAMP:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def is_staff(*sources: Mapping[str, Any]) -> bool:
    """Return whether the OIDC claims make the user an operator, as OIDC_STAFF_CLAIM says (such as `groups=operators`)."""
    claim, _, required = settings.OIDC_STAFF_CLAIM.partition("=")
    if not claim or not required:
        return False
    value = next((source[claim] for source in sources if claim in source), None)
    return required in value if isinstance(value, list) else value == required


def _name(value: object) -> str:
    """Return the display name in an OIDC claim as one line without control characters; "" for other values."""
    if not isinstance(value, str):
        return ""
    plain = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in value)
    return " ".join(plain.split())[:MAX_NAME_LENGTH]
