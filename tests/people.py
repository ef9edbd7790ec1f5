"""The API as signed-in people see it."""

from __future__ import annotations

from tests import factories
from tests.conftest import ApiClient
from workspaces.models import User


def as_user(user: User) -> ApiClient:
    """A client that bears the user's own token, as development issues it."""
    return ApiClient(factories.user_token(user))
