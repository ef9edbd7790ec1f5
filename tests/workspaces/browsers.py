"""Test clients that sign in at the fake OpenID provider."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from tests.fakes.openid import AUDIENCE, CLIENT_ID, CLIENT_SECRET, FakeOpenIdProvider
from workspaces.models import User
from workspaces.sign_in import provider as published

ALICE: dict[str, Any] = {"email": "alice@example.com", "email_verified": True, "name": "Alice A."}
BEGIN, CALLBACK = "/dashboard/sign-in/begin", "/dashboard/sign-in/callback"


def use_provider(settings: Any, provider: FakeOpenIdProvider) -> None:
    """Configure the service for this provider, with an empty cache."""
    settings.OIDC_ISSUER, settings.OIDC_AUDIENCE = provider.url, AUDIENCE
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.SIGN_IN_BY_EMAIL = False  # its default with a provider
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    published.cached_provider_of_issuer.cache_clear()


def new_browser() -> Client:
    """Return a test client that enforces CSRF checks."""
    return Client(enforce_csrf_checks=True)


def send_form(browser: Client, page: str, action: str, **fields: str) -> Any:
    """Open a page and submit its form to `action` with the page's CSRF token."""
    shown = browser.get(page)
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', shown.content.decode())
    assert found, f"{page} holds no form: {shown.status_code}"
    return browser.post(action, {"csrfmiddlewaretoken": found[1], **fields})


def begin(browser: Client, next_page: str = "") -> str:
    """Start a sign-in and return the provider's URL to which the browser is redirected."""
    answer = send_form(browser, "/dashboard/sign-in", BEGIN, next=next_page)
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def sign_in(provider: FakeOpenIdProvider, subject: str, browser: Client | None = None, next_page: str = "") -> Any:
    """Complete a sign-in and return the callback's response; its `client` is the signed-in browser."""
    browser = browser or new_browser()
    return browser.get(provider.sign_in(begin(browser, next_page), subject))


def signed_in(browser: Client) -> bool:
    """Return whether the browser is signed in to the dashboard."""
    return browser.get("/dashboard/?all=1").status_code == 200


def person(provider: FakeOpenIdProvider, subject: str) -> User:
    return User.objects.get(identity_issuer=provider.url, identity_subject=subject)
