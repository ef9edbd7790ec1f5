"""A program that gets its token by OAuth, and a person who decides about it in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from ipaddress import IPv4Address
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.test import Client

from tests.pages import form_of
from tests.people import sign_in_here
from workspaces.models import User

WEB_CALLBACK = "https://program.example/callback"
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"


class Program:
    """An OAuth client that starts with nothing. It remembers its client_id and the verifier of its last request.

    Each has an address of its own, because requests without a token are limited by address.
    """

    def __init__(self, client_id: str = "", callback: str = WEB_CALLBACK, *, address: str = "") -> None:
        address = address or str(IPv4Address(0x0A000000 + secrets.randbelow(0x1000000)))
        self.http = Client(raise_request_exception=False, REMOTE_ADDR=address)
        self.client_id, self.callback = client_id, callback
        self.verifier = ""

    def send(self, path: str, form: dict[str, Any], **headers: str) -> Any:
        """Send a form to an endpoint of the OAuth server."""
        body = urlencode({name: value for name, value in form.items() if value is not None}, doseq=True)
        return self.http.post(path, body, content_type="application/x-www-form-urlencoded", headers=headers)

    def register(self, **metadata: Any) -> Any:
        """Register, by default for the code flow and the device flow."""
        document = {
            "client_name": "Robot",
            "redirect_uris": [self.callback],
            "grant_types": ["authorization_code", "refresh_token", DEVICE_CODE],
            **metadata,
        }
        answer = self.http.post("/oauth/register", json.dumps(document), content_type="application/json")
        if answer.status_code == 201:
            self.client_id = answer.json()["client_id"]
        return answer

    def authorize_path(self, **changes: Any) -> str:
        """Return the address to which the program sends a person; a parameter of None is left out."""
        self.verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.callback,
            "state": "the program's state",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **changes,
        }
        return (
            f"/oauth/authorize?{urlencode({name: value for name, value in asked.items() if value is not None}, doseq=True)}"
        )

    def exchange(self, code: str, **changes: Any) -> Any:
        """Exchange an authorization code for tokens."""
        form = {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "code": code,
            "redirect_uri": self.callback,
            "code_verifier": self.verifier,
        }
        return self.send("/oauth/token", form | changes)

    def refresh(self, refresh_token: str, **changes: Any) -> Any:
        form = {"grant_type": "refresh_token", "client_id": self.client_id, "refresh_token": refresh_token}
        return self.send("/oauth/token", form | changes)

    def revoke(self, token: str, **changes: Any) -> Any:
        return self.send("/oauth/revoke", {"token": token, "client_id": self.client_id} | changes)

    def begin_device_flow(self, **changes: Any) -> Any:
        return self.send("/oauth/device", {"client_id": self.client_id} | changes)

    def poll(self, device_code: str) -> Any:
        form = {"grant_type": DEVICE_CODE, "client_id": self.client_id, "device_code": device_code}
        return self.send("/oauth/token", form)

    def connect(self, browser: Client, **changes: Any) -> dict[str, Any]:
        """Register if needed, have the person allow what is asked, and return the answer with the tokens."""
        if not self.client_id:
            self.register()
        answer = self.exchange(allow(browser, self.authorize_path(**changes))["code"])
        assert answer.status_code == 200, answer.content
        return dict(answer.json())


def browser_of(user: User) -> Client:
    """Return the browser of a user who has just signed in; it checks CSRF tokens as in production."""
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, user)
    return browser


def decide(browser: Client, path: str, decision: str = "allow", **choices: Any) -> Any:
    """Open the consent page at this address, change the form's fields, and press one of its buttons."""
    page = browser.get(path)
    assert page.status_code == 200, page.content
    return browser.post(path, {**form_of(page), **choices, "decision": decision})


def allow(browser: Client, path: str, **choices: Any) -> dict[str, str]:
    """Allow what a program asks for; return the parameters that it gets with the redirect."""
    return sent_to_program(decide(browser, path, **choices))


def sent_to_program(answer: Any) -> dict[str, str]:
    """Return the parameters of a redirect to a program; it always names this service as the issuer (RFC 9207)."""
    assert answer.status_code == 302, answer.content
    sent = dict(parse_qsl(urlsplit(answer["location"]).query))
    assert sent.pop("iss") == settings.BASE_URL
    return sent
