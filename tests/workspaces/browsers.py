"""Browsers that sign in at the stand-in of an OpenID provider."""

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
    """Configure the service for this provider, of which nothing is known yet."""
    settings.OIDC_ISSUER, settings.OIDC_AUDIENCE = provider.url, AUDIENCE
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    published.known.cache_clear()


def new_browser() -> Client:
    """A browser that sends no form without its token."""
    return Client(enforce_csrf_checks=True)


def send_form(browser: Client, page: str, action: str, **fields: str) -> Any:
    """Open a page, and send a form of it to `action`, with the token that the page holds."""
    shown = browser.get(page)
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', shown.content.decode())
    assert found, f"{page} holds no form: {shown.status_code}"
    return browser.post(action, {"csrfmiddlewaretoken": found[1], **fields})


def begin(browser: Client, next_page: str = "") -> str:
    """Begin to sign in; the provider's address that the browser is sent to."""
    answer = send_form(browser, "/dashboard/sign-in", BEGIN, next=next_page)
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def sign_in(provider: FakeOpenIdProvider, subject: str, browser: Client | None = None, next_page: str = "") -> Any:
    """Sign in from the first page to the last; the callback's answer, whose `client` is the browser."""
    browser = browser or new_browser()
    return browser.get(provider.sign_in(begin(browser, next_page), subject))


def signed_in(browser: Client) -> bool:
    """Whether the dashboard knows who this is."""
    return browser.get("/dashboard/?all=1").status_code == 200


def person(provider: FakeOpenIdProvider, subject: str) -> User:
    return User.objects.get(identity_issuer=provider.url, identity_subject=subject)
