"""Registers OAuth clients that ask for registration, and reads the metadata documents that other clients publish."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from django.utils import timezone

from agents.models import OAuthClient
from agents.oauth.client_metadata import NO_CLIENT_AUTHENTICATION, ClientMetadata, parse_client_metadata
from agents.oauth.errors import InvalidClientMetadata
from config import outbound
from config.api import rate_limit
from config.api.request_limits import limit_outbound_threads_and_seconds

DOCUMENT_LIFETIME = timedelta(hours=1)  # a metadata document is read again after this
DOCUMENT_SECONDS = 5.0
DOCUMENTS_PER_HOUR = 60  # for each person or address
MAX_DOCUMENT_BYTES = 20_000
MAX_CLIENT_ID_LENGTH = 500


def register_client(metadata: ClientMetadata) -> OAuthClient:
    """Store an OAuth client that registers itself; its id is also its client_id."""
    client = OAuthClient(name=metadata.name, redirect_uris=metadata.redirect_uris, grant_types=metadata.grant_types)
    client.client_id = client.id
    client.save(force_insert=True)
    return client


def find_stored_client(client_id: str | None) -> OAuthClient | None:
    """Return the OAuth client with this client_id, without reading its metadata document again; None if it is unknown."""
    return OAuthClient.objects.filter(client_id=client_id).first() if client_id else None


def find_or_fetch_client_or_none(client_id: str | None, *, asked_by: str) -> OAuthClient | None:
    """Return the OAuth client with this client_id; fetch its metadata document, if it has one, when the copy is old.

    `asked_by` is the user id or the address for which the document is read; each may wait for few at once. Returns None for
    an unknown client. Raises InvalidClientMetadata (the document cannot be read or is not valid), RateLimited.
    """
    client = find_stored_client(client_id)
    if not client_id or not _is_document_url(client_id):
        return client
    if client and client.document_read_at and timezone.now() - client.document_read_at < DOCUMENT_LIFETIME:
        return client
    rate_limit.count_or_raise_rate_limited(rate_limit.Bucket(f"oauth-document:{asked_by}", DOCUMENTS_PER_HOUR, 3600.0))
    metadata = _read_document(client_id, asked_by)
    values = {
        "name": metadata.name,
        "redirect_uris": metadata.redirect_uris,
        "grant_types": metadata.grant_types,
        "document_read_at": timezone.now(),
    }
    return OAuthClient.objects.update_or_create(client_id=client_id, defaults=values)[0]


def _is_document_url(client_id: str) -> bool:
    """Return whether a client_id is the URL of a client ID metadata document that this service may read."""
    try:
        outbound.check_url_without_lookup(client_id)
    except outbound.DestinationNotAllowed:
        return False
    segments = urlsplit(client_id).path.split("/")
    return len(client_id) <= MAX_CLIENT_ID_LENGTH and any(segments) and not {".", ".."} & set(segments)


def _read_document(url: str, asked_by: str) -> ClientMetadata:
    try:
        with limit_outbound_threads_and_seconds(asked_by):
            answer = outbound.request(
                "GET",
                url,
                headers={"Accept": "application/json"},
                timeout=DOCUMENT_SECONDS,
                max_bytes=MAX_DOCUMENT_BYTES,
            )
        document = answer.json()
    except outbound.OutboundError as error:
        raise InvalidClientMetadata("The client's metadata document cannot be read.") from error
    except ValueError as error:
        raise InvalidClientMetadata("The client's metadata document is not JSON.") from error
    if answer.status != 200:
        raise InvalidClientMetadata("The client's metadata document cannot be read.")
    metadata = parse_client_metadata(document)
    if document.get("client_id") != url:
        raise InvalidClientMetadata("The client's metadata document names another client_id.")
    if document.get("token_endpoint_auth_method", NO_CLIENT_AUTHENTICATION) != NO_CLIENT_AUTHENTICATION:
        raise InvalidClientMetadata("The client must be public: its token_endpoint_auth_method must be none.")
    return metadata
