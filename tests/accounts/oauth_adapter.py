"""The smallest adapter of a platform with OAuth 2.0. Tests register it under Pinterest's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.counting import code_point_length
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.oauth import PlatformOAuthClient, token_expiry
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.operator_setup import ConnectionPrerequisites
from accounts.platforms.types import Capabilities, Grant, Identity, MediaRules, TextRules


class TinyOAuthClient(PlatformOAuthClient):
    """The client of the test platform's OAuth endpoints."""

    label = "Pinterest"


class TinyErrors(ErrorTranslator[PlatformHttpError]):
    """Errors with their usual meanings."""

    name = "pinterest"
    label = "Pinterest"
    error = PlatformHttpError


class TinyPlatform(OAuthPlatform):
    """Connects accounts at tests/fakes/oauth_platform.py: a grant opens each account of its owner."""

    name = "pinterest"
    label = "Pinterest"
    capabilities = Capabilities(
        text=TextRules(max_length=500, counted_as="characters", count=code_point_length),
        media=MediaRules(max_count=0),
        features=("text",),
        retry_safety="at_most_once",
    )
    setup = ConnectionPrerequisites({"oauth": "Their sign-in."})
    methods = ("oauth",)
    errors = TinyErrors()
    required_settings = ("CLIENT_ID",)
    revoked_tokens = ("refresh_token",)

    def oauth_client(self) -> TinyOAuthClient:
        """The client of the test platform's OAuth endpoints, with fixed addresses."""
        base = self.platform_setting("API_BASE")
        return TinyOAuthClient(
            self.platform_setting("CLIENT_ID"),
            self.platform_setting("CLIENT_SECRET"),
            authorize_url=f"{base}/authorize",
            token_url=f"{base}/token",
            scopes=(),
            revoke_url=f"{base}/revoke",
            pkce="S256",
        )

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """All accounts of the owner."""
        found = JsonClient(self.platform_setting("API_BASE"), tokens["access_token"]).get("/accounts")["accounts"]
        return tuple(
            Identity(each["id"], each["username"], each["name"], "", f"https://pins.example/{each['username']}")
            for each in found
        )

    def refresh_grant(self, grant: Grant) -> Grant:
        """Returns what the platform answers as it is, even without a refresh token, which the service must not lose."""
        answer = self.oauth_client().renew_tokens(grant.tokens["refresh_token"])
        tokens = {name: answer.get(name) for name in ("access_token", "refresh_token")}
        return Grant(grant.credentials, tokens, grant.external_id, token_expiry(answer))
