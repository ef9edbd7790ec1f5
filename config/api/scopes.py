"""The scopes of API keys and agents, such as `posts.read` and `media.upload`."""

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
EDITOR = "editor"  # the role that writes posts, and nothing else
SCOPES_OF_ROLES = {  # what people may do in a workspace, by their role
    "owner": ALL_SCOPES,
    "admin": ALL_SCOPES,
    EDITOR: READ_SCOPES | {"posts.draft", "posts.schedule", "posts.publish", "media.upload"},
    "member": READ_SCOPES,
}


class AlternativeScopes(tuple[str, ...]):
    """Alternative scopes of an API operation: a caller needs at least one; some inputs may require a particular one."""


def any_scope_of(*scopes: str) -> AlternativeScopes:
    """Declare that an API operation needs any one of these scopes."""
    return AlternativeScopes(scopes)
