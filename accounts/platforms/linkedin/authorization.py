"""OAuth 2.0 at LinkedIn: the authorization code flow of a confidential client, without PKCE.

Access tokens live 60 days. Refresh tokens are given to approved apps only; they live a year from the consent, stay the same
when they are used, and without one the owner connects again. Source: learn.microsoft.com/linkedin, authorization code flow
and programmatic refresh tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected
from accounts.platforms.types import Authorization

IDENTITY_SCOPES = ("openid", "profile")
MEMBER_SCOPE = "w_member_social"
PAGE_SCOPES = ("w_organization_social", "rw_organization_admin")
COMMENT_SCOPES = ("w_member_social_feed", "w_organization_social_feed")
SCOPES = " ".join([*IDENTITY_SCOPES, MEMBER_SCOPE, *PAGE_SCOPES, *COMMENT_SCOPES])


@dataclass(frozen=True)
class Application:
    """The operator's app at LinkedIn, which names itself in the form. `scopes` are those that its products open."""

    client_id: str
    client_secret: str = field(repr=False)
    site: str  # where people grant and tokens are issued, without a trailing slash
    scopes: tuple[str, ...]

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner grants access."""
        params = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self.scopes),
            "state": state,
        }
        return Authorization(oauth.with_query(f"{self.site}/oauth/v2/authorization", params))

    def exchange(self, code: str, redirect_uri: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The answer with the tokens, and the scopes that were granted.

        Raises CredentialsRejected, ConnectionUnavailable, Transient.
        """
        form = {"code": code, "redirect_uri": redirect_uri, **self._named()}
        answer = oauth.exchange_code(f"{self.site}/oauth/v2/accessToken", form)
        granted = oauth.scopes_of(answer)
        missing = {*IDENTITY_SCOPES} - {*granted}
        if missing or not (MEMBER_SCOPE in granted or may_post_for_pages(granted)):
            needed = sorted(missing) or [MEMBER_SCOPE, *PAGE_SCOPES]
            raise CredentialsRejected(
                f"The grant lacks what the service needs at LinkedIn: {', '.join(needed)}.",
                suggested_action="Begin the connection again, and grant everything that LinkedIn asks for.",
            )
        return answer, granted

    def renew(self, tokens: Mapping[str, Any]) -> dict[str, Any]:
        """The answer with a new access token. Raises AccountDisconnected, Transient."""
        if not tokens.get("refresh_token"):
            raise AccountDisconnected(
                "LinkedIn's access to this account ends 60 days after its owner granted it, and has to be granted again."
            )
        form = {"refresh_token": tokens["refresh_token"], **self._named()}
        return oauth.renew(f"{self.site}/oauth/v2/accessToken", form)

    def _named(self) -> dict[str, str]:
        return {"client_id": self.client_id, "client_secret": self.client_secret}


def may_post_for_pages(granted: tuple[str, ...]) -> bool:
    """Whether the pages of the member can be listed and posted for."""
    return {*PAGE_SCOPES} <= {*granted}
