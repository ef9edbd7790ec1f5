"""OAuth 2.0 at TikTok, whose client id is called a client key.

Access tokens live some hours, refresh tokens some months; the answers tell how long. A renewal may bring another refresh
token, after which the old one is good no more. PKCE is asked of some apps only, and TikTok writes its S256 challenge in
hexadecimal there; so it is the operator's setting (TIKTOK_PKCE: S256 or hex). Source: developers.tiktok.com, Login Kit
for web and for desktop, manage user access tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import CredentialsRejected, Transient
from accounts.platforms.tiktok.capabilities import SCOPES
from accounts.platforms.types import Authorization
from config.outbound import OutboundError, request


@dataclass(frozen=True)
class Application:
    """The operator's app at TikTok, which names itself in the form."""

    client_key: str
    client_secret: str = field(repr=False)
    api: str  # where tokens are issued, without a trailing slash
    site: str  # where people grant
    pkce: str = ""

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the creator grants access; the verifier is kept."""
        params = {
            "client_key": self.client_key,
            "scope": ",".join(SCOPES),
            "response_type": "code",
            "redirect_uri": redirect_uri,
            "state": state,
        }
        verifier = oauth.new_verifier()
        if self.pkce:
            params |= {"code_challenge": self._challenge(verifier), "code_challenge_method": "S256"}
        return Authorization(oauth.with_query(f"{self.site}/v2/auth/authorize/", params), {"verifier": verifier})

    def exchange(self, code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        """The answer with the tokens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        form = {"code": code, "redirect_uri": redirect_uri, **self._named()}
        answer = oauth.exchange_code(self._token(), {**form, "code_verifier": verifier} if self.pkce else form)
        missing = set(SCOPES) - set(oauth.scopes_of(answer))
        if missing or not answer.get("refresh_token"):
            raise CredentialsRejected(
                f"The grant lacks what the service needs at TikTok: {', '.join(sorted(missing)) or 'a refresh token'}.",
                suggested_action="Begin the connection again, and allow everything that TikTok asks about.",
            )
        return answer

    def renew(self, refresh_token: str) -> Mapping[str, Any]:
        """The answer with new tokens. Raises AccountDisconnected, Transient."""
        return oauth.renew(self._token(), {"refresh_token": refresh_token, **self._named()})

    def revoke(self, token: str) -> None:
        """End the access; a token that TikTok does not know has ended already. Raises Transient."""
        try:
            answer = request(
                "POST",
                f"{self.api}/v2/oauth/revoke/",
                data={"token": token, **self._named()},
                timeout=oauth.TIMEOUT_SECONDS,
                max_bytes=oauth.MAX_ANSWER_BYTES,
            )
        except OutboundError as error:
            raise Transient("TikTok could not be reached.") from error
        if answer.status not in (200, 400, 401):
            raise Transient(f"TikTok did not revoke the access: it answered {answer.status}.")

    def _challenge(self, verifier: str) -> str:
        return hashlib.sha256(verifier.encode()).hexdigest() if self.pkce == "hex" else oauth.challenge_of(verifier)

    def _token(self) -> str:
        return f"{self.api}/v2/oauth/token/"

    def _named(self) -> dict[str, str]:
        return {"client_key": self.client_key, "client_secret": self.client_secret}
