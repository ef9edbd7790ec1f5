"""OAuth 2.0 at LinkedIn: the authorization code flow of a confidential client, without PKCE.

LinkedIn opens the Community Management API, by which pages are posted for, only to an application that has no other
product. So an operator has one application for member profiles, one for pages, or both.
Access tokens live 60 days. Refresh tokens are given to approved applications only; they live a year from the consent, stay
the same when they are used, and without one the owner connects again. Source: learn.microsoft.com/linkedin, authorization
code flow, programmatic refresh tokens, and the scopes of each product (getting access, increasing access).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected
from accounts.platforms.linkedin.capabilities import PAGE_COMMENT_SCOPE
from accounts.platforms.types import Authorization

MEMBER_SCOPE = "w_member_social"
PAGE_SCOPES = ("w_organization_social", "rw_organization_admin")


@dataclass(frozen=True)
class Kind:
    """What an application is for. The names of its settings begin with LINKEDIN_ and `prefix`; the scopes `identity` tell
    who granted access; `scopes` are asked for where the operator names none."""

    name: str
    label: str
    prefix: str
    identity: tuple[str, ...]
    scopes: tuple[str, ...]


MEMBER = Kind("member", "member profiles", "", ("openid", "profile"), ("openid", "profile", MEMBER_SCOPE))
PAGES = Kind("pages", "pages", "PAGES_", ("r_basicprofile",), ("r_basicprofile", *PAGE_SCOPES, PAGE_COMMENT_SCOPE))
KINDS = {kind.name: kind for kind in (MEMBER, PAGES)}


@dataclass(frozen=True)
class Application:
    """One of the operator's applications at LinkedIn, which names itself in the form. `scopes` are those that it asks for."""

    kind: Kind
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
        missing = {*self.kind.identity} - {*granted}
        if missing or not (MEMBER_SCOPE in granted or may_post_for_pages(granted)):
            needed = sorted(missing) or ([MEMBER_SCOPE] if self.kind is MEMBER else PAGE_SCOPES)
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


def oauth_schema(offered: list[str]) -> dict[str, Any]:
    """What the owner says before granting, where the applications of these kinds are set up: which kind, unless there is
    one alone."""
    kind: dict[str, Any] = {
        "type": "string",
        "title": "What to connect",
        "description": "Member is the profile of the person who grants access, pages are those that they may post for.",
        "enum": list(KINDS),
    }
    if len(offered) == 1:
        kind["default"] = offered[0]
    required = ["kind"] if len(offered) > 1 else []
    return {"type": "object", "properties": {"kind": kind}, "required": required, "additionalProperties": False}
