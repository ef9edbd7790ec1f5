"""Google's OAuth 2.0 for web servers: offline access, PKCE, consent that adds to what was granted before, revocation.

Access tokens live an hour. The refresh token stays the same; Google gives one only with `access_type=offline` and, after
the first time, only where the consent is asked for again. It ends when the owner takes the access away, after half a
year without use, or after a week while the service's consent screen is in testing. Owners may grant a part of what is
asked. Sources: developers.google.com/identity/protocols/oauth2/web-server, and its parent on expiration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import CredentialsRejected, Transient
from accounts.platforms.types import Authorization
from accounts.platforms.youtube.capabilities import SCOPES
from config.outbound import OutboundError, request


@dataclass(frozen=True)
class Application:
    """The operator's OAuth client at Google, which names itself in the form."""

    client_id: str
    client_secret: str = field(repr=False)
    consent: str  # where people grant, without a trailing slash
    tokens: str  # where tokens are issued

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner grants access; the verifier is kept."""
        verifier = oauth.new_verifier()
        params = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(SCOPES),
            "state": state,
            "access_type": "offline",
            "prompt": "consent",
            "include_granted_scopes": "true",
            "code_challenge": oauth.challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        return Authorization(oauth.with_query(f"{self.consent}/o/oauth2/v2/auth", params), {"verifier": verifier})

    def exchange(self, code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        """The answer with the tokens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        form = {"code": code, "redirect_uri": redirect_uri, "code_verifier": verifier, **self._named()}
        answer = oauth.exchange_code(f"{self.tokens}/token", form)
        missing = set(SCOPES) - set(oauth.scopes_of(answer))
        if missing or not answer.get("refresh_token"):
            names = ", ".join(sorted(scope.rpartition("/")[2] for scope in missing)) or "a refresh token"
            raise CredentialsRejected(
                f"The grant lacks what the service needs at YouTube: {names}.",
                suggested_action="Begin the connection again, and tick everything that Google asks about.",
            )
        return answer

    def renew(self, refresh_token: str) -> Mapping[str, Any]:
        """The answer with a new access token. Raises AccountDisconnected, Transient."""
        return oauth.renew(f"{self.tokens}/token", {"refresh_token": refresh_token, **self._named()})

    def revoke(self, token: str) -> None:
        """End the grant that the token belongs to; one that Google does not know has ended already. Raises Transient."""
        try:
            answer = request(
                "POST",
                f"{self.tokens}/revoke",
                data={"token": token},
                timeout=oauth.TIMEOUT_SECONDS,
                max_bytes=oauth.MAX_ANSWER_BYTES,
            )
        except OutboundError as error:
            raise Transient("Google could not be reached.") from error
        if answer.status not in (200, 400):
            raise Transient(f"Google did not revoke the access: it answered {answer.status}.")

    def _named(self) -> dict[str, str]:
        return {"client_id": self.client_id, "client_secret": self.client_secret}
