"""What a provider's claims say of a person (OpenID Connect Core 1.0, section 5.1)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MAX_SUBJECT = 255
MAX_NAME = 200
MAX_ADDRESS = 254
NEVER = datetime.fromtimestamp(0, UTC)  # in place of a time that is not known
LAST_SECOND = 253_402_300_800  # the end of the year 9999


class NobodyNamed(Exception):
    """The claims name no person: `sub` is missing, or is nothing that could be kept."""


@dataclass(frozen=True)
class Identity:
    """A person as the provider knows them. Who they are is (issuer, subject); the rest is told, and may change."""

    issuer: str
    subject: str
    email: str = ""
    email_verified: bool = False
    display_name: str = ""


def identity_in(issuer: str, claims: Mapping[str, Any], *more: Mapping[str, Any]) -> Identity:
    """The person of these claims, which are verified; `more` (userinfo) tells of the same person. Raises NobodyNamed.

    Address and verification are read from one place: one set's address with another's word for it proves nothing.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT or not subject.isprintable():
        raise NobodyNamed("The provider's token names nobody.")
    sources = (claims, *more)
    with_address = next((source for source in sources if "email" in source), claims)
    email = plain_address(with_address.get("email"))
    names = [_name(source.get(claim)) for claim in ("name", "preferred_username") for source in sources]
    return Identity(
        issuer=issuer,
        subject=subject,
        email=email,
        email_verified=bool(email) and with_address.get("email_verified") in (True, "true"),  # some write it as text
        display_name=next(filter(None, names), ""),
    )


def plain_address(value: object) -> str:
    """The e-mail address in the one form that is stored and compared, "" where the value is none.

    Case is folded in ASCII only: other letters fold into ASCII ones, by which a stranger's address could pass for another.
    """
    if not isinstance(value, str):
        return ""
    address = "".join(sign.lower() if sign.isascii() else sign for sign in value.strip())
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address if len(address) <= MAX_ADDRESS else ""


def auth_time_in(claims: Mapping[str, Any]) -> datetime | None:
    """When the person authenticated at the provider; None where the claims do not say so in seconds since 1970."""
    seconds = claims.get("auth_time")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def is_staff(*sources: Mapping[str, Any]) -> bool:
    """Whether the first source with the claim that OIDC_STAFF_CLAIM names (`groups=operators`) holds the value."""
    claim, _, wanted = settings.OIDC_STAFF_CLAIM.partition("=")
    if not claim or not wanted:
        return False
    held = next((source[claim] for source in sources if claim in source), None)
    return wanted in held if isinstance(held, list) else held == wanted


def _name(value: object) -> str:
    """One line of a person's own text."""
    if not isinstance(value, str):
        return ""
    plain = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in value)
    return " ".join(plain.split())[:MAX_NAME]
