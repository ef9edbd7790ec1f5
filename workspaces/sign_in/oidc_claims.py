"""Reads a user's identity from OpenID Connect claims, which are the fields of a token (OpenID Connect Core 1.0, 5.1)."""

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
UNKNOWN_AUTH_TIME = datetime.fromtimestamp(0, UTC)  # represents an unknown time of authentication
MAX_TIMESTAMP = 253_402_300_800  # end of the year 9999


class InvalidSubject(Exception):
    """The error for an OpenID Connect claim `sub` (subject) that is missing, too long or not printable."""


@dataclass(frozen=True)
class OidcIdentity:
    """A user's identity from OpenID Connect claims. Only issuer and subject identify the user; other fields may change."""

    issuer: str
    subject: str
    email: str = ""
    email_verified: bool = False
    display_name: str = ""


def identity_from_claims(issuer: str, claims: Mapping[str, Any], *more: Mapping[str, Any]) -> OidcIdentity:
    """Return the user's identity from verified OpenID Connect claims, completed from `more` claims such as userinfo.

    E-mail address and `email_verified` are read from the same source, because one source cannot verify the address of
    another. Raises InvalidSubject.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_LENGTH or not subject.isprintable():
        raise InvalidSubject("The provider's token has no valid `sub`.")
    sources = (claims, *more)
    with_address = next((source for source in sources if "email" in source), claims)
    email = normalized_email_or_empty(with_address.get("email"))
    names = [_name(source.get(claim)) for claim in ("name", "preferred_username") for source in sources]
    return OidcIdentity(
        issuer=issuer,
        subject=subject,
        email=email,
        email_verified=bool(email) and with_address.get("email_verified") in (True, "true"),  # some providers send text
        display_name=next(filter(None, names), ""),
    )


def normalized_email_or_empty(value: object) -> str:
    """Return the e-mail address in an OpenID Connect claim in lower case; "" for anything but a valid address.

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
    """Return when the user last entered credentials, as the OpenID claim `auth_time` says; None without the claim."""
    seconds = claims.get("auth_time")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < MAX_TIMESTAMP:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def is_operator_by_claims(*sources: Mapping[str, Any]) -> bool:
    """Return whether the OpenID Connect claims contain the value that makes a user an operator (OIDC_STAFF_CLAIM).

    The setting has the form `groups=operators`.
    """
    claim, _, required = settings.OIDC_STAFF_CLAIM.partition("=")
    if not claim or not required:
        return False
    value = next((source[claim] for source in sources if claim in source), None)
    return required in value if isinstance(value, list) else value == required


def _name(value: object) -> str:
    """Return the display name in an OpenID Connect claim as one line without control characters; "" for anything but text."""
    if not isinstance(value, str):
        return ""
    plain = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in value)
    return " ".join(plain.split())[:MAX_NAME_LENGTH]
