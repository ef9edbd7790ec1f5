"""The least adapter of a platform with OAuth 2.0; it stands in the registry in Pinterest's place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.counting import characters
from accounts.platforms.errors import TokenExpired, Transient
from accounts.platforms.operator_setup import OperatorSetup
from accounts.platforms.types import (
    Authorization,
    Capabilities,
    Connection,
    Grant,
    Identity,
    MediaRules,
    TextRules,
)
from config.outbound import OutboundError, request


class OAuthPlatform(Platform):
    """Speaks with tests/fakes/oauth_platform.py: a grant opens each account that its owner has."""

    name = "pinterest"
    label = "Pinterest"
    capabilities = Capabilities(
        text=TextRules(max_length=500, counted_as="characters", count=characters),
        media=MediaRules(max_count=0),
        features=("text",),
        retry_safety="at_most_once",
    )
    setup = OperatorSetup({"oauth": "Their sign-in."})
    methods = ("oauth",)

    def unavailable_reason(self, method: str) -> str | None:
        return None if self.setting("CLIENT_ID") else "PINTEREST_CLIENT_ID is not set."

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        verifier = oauth.new_verifier()
        asked = {
            "response_type": "code",
            "client_id": self.setting("CLIENT_ID"),
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": oauth.challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        return Authorization(oauth.with_query(f"{self.base}/authorize", asked), {"code_verifier": verifier})

    def exchange(self, *, code: str, redirect_uri: str, kept: Mapping[str, Any]) -> tuple[Connection, ...]:
        form = {"code": code, "redirect_uri": redirect_uri, "code_verifier": kept["code_verifier"]}
        answer = oauth.exchange_code(f"{self.base}/token", {**form, **self.client})
        return tuple(
            Connection(
                identity, Grant({}, oauth.kept_tokens({}, answer), identity.external_id, oauth.expiry_of(answer))
            )
            for identity in self.accounts(answer["access_token"])
        )

    def identify(self, grant: Grant) -> Identity:
        found = self.accounts(grant.tokens["access_token"])
        return next(each for each in found if each.external_id == grant.external_id)

    def refresh(self, grant: Grant) -> Grant:
        """Keeps what the platform answers as it is, empty or not: the service must not lose a refresh token by that."""
        form = {"refresh_token": grant.tokens["refresh_token"], **self.client}
        answer = oauth.renew(f"{self.base}/token", form)
        tokens = {name: answer.get(name) for name in ("access_token", "refresh_token")}
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def revoke(self, grant: Grant) -> None:
        self.call("POST", "/revoke", data={"token": grant.tokens["refresh_token"]})

    def accounts(self, token: str) -> list[Identity]:
        told = self.call("GET", "/accounts", headers={"Authorization": f"Bearer {token}"})
        return [
            Identity(each["id"], each["username"], each["name"], "", f"https://pins.example/{each['username']}")
            for each in told["accounts"]
        ]

    def call(self, method: str, path: str, **options: Any) -> Any:
        try:
            answer = request(method, self.base + path, timeout=5, **options)
        except OutboundError as error:
            raise Transient("The platform could not be reached.") from error
        if answer.status == 401:
            raise TokenExpired("The token is stale.")
        if answer.status >= 400:
            raise Transient(f"The platform answered {answer.status}.")
        return answer.json() if answer.body else {}

    @property
    def base(self) -> str:
        return self.setting("API_BASE")

    @property
    def client(self) -> dict[str, str]:
        return {"client_id": self.setting("CLIENT_ID"), "client_secret": self.setting("CLIENT_SECRET")}
