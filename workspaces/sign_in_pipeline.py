"""social-auth's pipeline, of one step: from the verified token to the person."""

from __future__ import annotations

from typing import Any, cast

from social_django.strategy import DjangoStrategy

from workspaces.services import sign_in_person
from workspaces.sign_in.backend import OpenIdBackend
from workspaces.sign_in.claims import identity_in, is_staff


def find_or_make_person(backend: OpenIdBackend, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """`user`: the person of the token, by (issuer, subject) alone. Raises NobodyNamed, Forbidden (a closed account)."""
    claims = backend.id_token or {}
    sources = (claims, backend.userinfo)
    request = cast(DjangoStrategy, backend.strategy).request
    person = sign_in_person(
        identity=identity_in(backend.id_token_issuer(), *sources),
        staff=is_staff(*sources),
        ip=request.META.get("REMOTE_ADDR") or None if request else None,
    )
    return {"user": person}
