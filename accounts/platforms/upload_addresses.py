"""Upload URLs, which a platform issues for one upload each, and which are encrypted before they are stored.

Anybody who has such a URL may upload to it. So a publication's state has it encrypted, readable for that publication only.
The service calls it only at the platform's own hosts, since files and sometimes a token are sent there.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from config.sealing import SealedValueError, decrypt_for_row, encrypt_for_row


def encrypt_upload_url(address: str, *, key: str) -> str:
    """Encrypt a media file's upload URL before it is stored; decryption needs the same `key`, that of the content."""
    return encrypt_for_row(f"upload:{key}", address)


def decrypt_upload_url_or_none(sealed: str, *, key: str) -> str | None:
    """Decrypt a stored upload URL; returns None if no encryption key of the service can decrypt the URL."""
    try:
        return str(decrypt_for_row(f"upload:{key}", sealed))
    except SealedValueError:
        return None


def is_platform_upload_url(address: str, api: str, domain: str) -> bool:
    """Return whether an upload URL leads to the platform that issued it, so that files may be sent there.

    It does at the API's host, or by https at a host of the platform's domain.
    """
    try:
        parts, own = urlsplit(address), urlsplit(api)
        at_domain = parts.scheme == "https" and (parts.hostname or "").endswith(f".{domain}") and parts.port in (None, 443)
    except ValueError:
        return False
    return "@" not in parts.netloc and ((parts.scheme, parts.netloc) == (own.scheme, own.netloc) or at_domain)
