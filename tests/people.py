"""API clients and browsers of signed-in users and operators."""

from __future__ import annotations

from django.test import Client
from django.utils import timezone

from tests import factories
from tests.conftest import OPERATORS_TOKEN, ApiClient
from workspaces.models import User, UserSession
from workspaces.sign_in.sessions import AUTHENTICATED_AT, SIGNED_IN_AT, SIGNED_IN_BY, SignInMethod


def as_operator() -> ApiClient:
    """Return an API client with the operator's token; ADMIN_TOKEN must be set to it (fixture `operator`)."""
    return ApiClient(OPERATORS_TOKEN)


def as_user(user: User) -> ApiClient:
    """Return an API client with the user's own token, as development issues it."""
    return ApiClient(factories.user_token(user))


def sign_in_here(browser: Client, user: User) -> None:
    """Sign the user in to the browser, as if they had signed in just now by a link."""
    browser.force_login(user)
    now = timezone.now()
    session = browser.session
    session.update({SIGNED_IN_AT: now.timestamp(), SIGNED_IN_BY: SignInMethod.LINK.value, AUTHENTICATED_AT: now.timestamp()})
    session.save()
    UserSession.objects.create(session_id=str(session.session_key), user=user, signed_in_at=now, last_used_at=now)


def console() -> Client:
    """Return the browser of an operator who is signed in to the console."""
    browser = Client()
    sign_in_here(browser, User.objects.create_superuser("operator", display_name="Operator"))
    return browser
