"""The scopes that keys and agents hold (SPEC: exact values)."""

from __future__ import annotations

SCOPES = (
    "posts.read",
    "posts.draft",
    "posts.schedule",
    "posts.publish",
    "media.upload",
    "accounts.read",
    "accounts.write",
    "usage.read",
    "logs.read",
    "api_keys.write",
)
SCOPE_CHOICES = [(scope, scope) for scope in SCOPES]
ALL_SCOPES = frozenset(SCOPES)
READ_SCOPES = frozenset(scope for scope in SCOPES if scope.endswith(".read"))


class AnyOf(tuple[str, ...]):
    """Scopes of which a caller needs one; which one, the service decides from the content."""


def any_of(*scopes: str) -> AnyOf:
    return AnyOf(scopes)
