"""The only step of social-auth's sign-in pipeline: finds or creates the user of a verified ID token."""

from __future__ import annotations

from typing import Any, cast

from social_django.strategy import DjangoStrategy

from workspaces.services import sign_in_user
from workspaces.sign_in.backend import OpenIdBackend
from workspaces.sign_in.oidc_claims import identity_from_claims, is_staff


def find_or_create_user(backend: OpenIdBackend, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return the ID token's user by (issuer, subject) as `user`. Raises InvalidSubject, Forbidden (a closed account)."""
    claims = backend.id_token or {}
    sources = (claims, backend.userinfo)
    request = cast(DjangoStrategy, backend.strategy).request
    person = sign_in_user(
        identity=identity_from_claims(backend.id_token_issuer(), *sources),
        staff=is_staff(*sources),
        ip=request.META.get("REMOTE_ADDR") or None if request else None,
    )
    return {"user": person}
