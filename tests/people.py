"""The API as signed-in people and operators see it, and the operators' console."""

from __future__ import annotations

from django.test import Client
from django.utils import timezone

from tests import factories
from tests.conftest import OPERATORS_TOKEN, ApiClient
from workspaces.models import User, UserSession
from workspaces.sign_in.sessions import AUTHENTICATED_AT, SIGNED_IN_AT, SIGNED_IN_BY, SignInMethod


def as_operator() -> ApiClient:
    """A client that bears the operator's token, where the setting ADMIN_TOKEN is that one (fixture `operator`)."""
    return ApiClient(OPERATORS_TOKEN)


def as_user(user: User) -> ApiClient:
    """A client that bears the user's own token, as development issues it."""
    return ApiClient(factories.user_token(user))


def sign_in_here(browser: Client, user: User) -> None:
    """Sign the user in, in a session that has been used already, by a sign-in of just now."""
    browser.force_login(user)
    now = timezone.now()
    session = browser.session
    session.update(
        {SIGNED_IN_AT: now.timestamp(), SIGNED_IN_BY: SignInMethod.LINK.value, AUTHENTICATED_AT: now.timestamp()}
    )
    session.save()
    UserSession.objects.create(session_id=str(session.session_key), user=user, signed_in_at=now, last_used_at=now)


def console() -> Client:
    """The browser of an operator who is signed in to the console."""
    browser = Client()
    sign_in_here(browser, User.objects.create_superuser("operator", display_name="Operator"))
    return browser
