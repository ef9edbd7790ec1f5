"""Addresses that a platform hands out for one upload.

Whoever has one may send to it, so it stands in a publication's state sealed, and opens for that publication only. It
is dialled only at the platform's own hosts, since files and sometimes a token are sent there.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from config.sealing import SealedValueError, open_sealed, seal


def seal_address(address: str, *, key: str) -> str:
    """The address as it may be stored with the publication of this key (Content.key)."""
    return seal(f"upload:{key}", address)


def open_address(sealed: str, *, key: str) -> str | None:
    """The address; None when no key of the service opens it any more."""
    try:
        return str(open_sealed(f"upload:{key}", sealed))
    except SealedValueError:
        return None


def is_own(address: str, api: str, domain: str) -> bool:
    """Whether the address lies where the API does, or by https at a host of the platform's domain."""
    try:
        told, own = urlsplit(address), urlsplit(api)
        at_domain = told.scheme == "https" and (told.hostname or "").endswith(f".{domain}") and told.port in (None, 443)
    except ValueError:
        return False
    return "@" not in told.netloc and ((told.scheme, told.netloc) == (own.scheme, own.netloc) or at_domain)
