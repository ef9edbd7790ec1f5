"""The API as signed-in people and operators see it, and the operators' console."""

from __future__ import annotations

from django.test import Client

from tests import factories
from tests.conftest import OPERATORS_TOKEN, ApiClient
from workspaces.models import User


def as_operator() -> ApiClient:
    """A client that bears the operator's token, where the setting ADMIN_TOKEN is that one (fixture `operator`)."""
    return ApiClient(OPERATORS_TOKEN)


def as_user(user: User) -> ApiClient:
    """A client that bears the user's own token, as development issues it."""
    return ApiClient(factories.user_token(user))


def console() -> Client:
    """The browser of an operator who is signed in to the console."""
    browser = Client()
    browser.force_login(User.objects.create_superuser("operator", display_name="Operator"))
    return browser
