"""OAuth 2.0 at X: the authorization code flow with PKCE, refresh tokens that are good for one use, and revocation.

Access tokens live two hours. Source: docs.x.com, OAuth 2.0 Authorization Code Flow with PKCE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import CredentialsRejected, Transient
from accounts.platforms.types import Authorization
from accounts.platforms.x.capabilities import SCOPES
from config.outbound import OutboundError, request

# X calls a refresh token that it does not know an invalid request, where others say invalid_grant.
ENDED = oauth.ENDED | {"invalid_request"}


@dataclass(frozen=True)
class Application:
    """The operator's app at X: a confidential client, which names itself by a Basic header."""

    client_id: str
    client_secret: str = field(repr=False)
    api: str  # where tokens are issued, without a trailing slash
    site: str  # where people grant

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner grants access; the verifier is kept."""
        verifier = oauth.new_verifier()
        params = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(SCOPES),
            "state": state,
            "code_challenge": oauth.challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        return Authorization(oauth.with_query(f"{self.site}/i/oauth2/authorize", params), {"verifier": verifier})

    def exchange(self, code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        """The answer with the tokens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        form = {"code": code, "redirect_uri": redirect_uri, "code_verifier": verifier}
        answer = oauth.exchange_code(f"{self.api}/2/oauth2/token", form, headers=self._named())
        missing = set(SCOPES) - set(oauth.scopes_of(answer))
        if missing or not answer.get("refresh_token"):
            raise CredentialsRejected(
                f"The grant lacks what the service needs at X: {', '.join(sorted(missing)) or 'a refresh token'}.",
                suggested_action="Begin the connection again, and grant everything that X asks for.",
            )
        return answer

    def renew(self, refresh_token: str) -> dict[str, Any]:
        """The answer with a new pair; the old refresh token is used up. Raises AccountDisconnected, Transient."""
        form = {"refresh_token": refresh_token}
        return oauth.renew(f"{self.api}/2/oauth2/token", form, headers=self._named(), ended=ENDED)

    def revoke(self, token: str) -> None:
        """End a token; one that X does not know has ended already. Raises Transient."""
        try:
            answer = request(
                "POST",
                f"{self.api}/2/oauth2/revoke",
                data={"token": token},
                headers=self._named(),
                timeout=oauth.TIMEOUT_SECONDS,
                max_bytes=oauth.MAX_ANSWER_BYTES,
            )
        except OutboundError as error:
            raise Transient("X could not be reached.") from error
        if answer.status not in (200, 400):
            raise Transient(f"X did not revoke the access: it answered {answer.status}.")

    def _named(self) -> Mapping[str, str]:
        return oauth.basic(self.client_id, self.client_secret)
