"""OAuth 2.0 at Pinterest: the authorization code flow, refresh tokens that are replaced at each use, and revocation.

Access tokens live 30 days, refresh tokens 60, counted anew at each renewal. Sources: github.com/pinterest/api-description
5.23 (oauth/token); error 283 of a grant that is none is what clients report, also for an app that is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    Transient,
)
from accounts.platforms.pinterest.api import PinterestError, answered, platform_error
from accounts.platforms.pinterest.capabilities import SCOPES
from accounts.platforms.types import Authorization
from config.outbound import OutboundError, Response, request

INVALID_GRANT = 283


@dataclass(frozen=True)
class Application:
    """The operator's app at Pinterest, which names itself by a Basic header. `api` and `site`: where tokens are issued and
    where people grant, without a trailing slash."""

    client_id: str
    client_secret: str = field(repr=False)
    api: str
    site: str

    def authorize(self, state: str, redirect_uri: str) -> Authorization:
        """Where the owner grants access."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": ",".join(SCOPES),
            "state": state,
        }
        return Authorization(oauth.with_query(f"{self.site}/oauth/", asked))

    def exchange(self, code: str, redirect_uri: str) -> dict[str, Any]:
        """The answer with the tokens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
        try:
            answer = answered(self._post("/oauth/token", {**form, "continuous_refresh": "true"}))
        except OutboundError as error:
            raise platform_error(error) from error
        except PinterestError as error:
            if error.status == 429 or error.status >= 500:
                raise platform_error(error) from error
            if not _is_of_the_grant(error) and (error.status == 401 or error.code == INVALID_GRANT):
                raise ConnectionUnavailable(f"Pinterest does not take the operator's app: {error.reason}") from error
            raise CredentialsRejected(
                f"Pinterest does not take this code: {error.reason}", suggested_action="Begin the connection again."
            ) from error
        missing = set(SCOPES) - set(oauth.scopes_of(answer))
        if missing or not answer.get("access_token") or not answer.get("refresh_token"):
            raise CredentialsRejected(
                f"The grant lacks what the service needs at Pinterest: {', '.join(sorted(missing)) or 'a token'}.",
                suggested_action="Begin the connection again, and grant everything that Pinterest asks for.",
            )
        return answer

    def renew(self, refresh_token: str) -> dict[str, Any]:
        """The answer with a new pair; the old refresh token is used up. Raises AccountDisconnected, Transient."""
        try:
            answer = answered(
                self._post("/oauth/token", {"grant_type": "refresh_token", "refresh_token": refresh_token})
            )
        except OutboundError as error:
            raise platform_error(error) from error
        except PinterestError as error:
            if _is_of_the_grant(error):
                raise AccountDisconnected("Pinterest says that the access to this account has ended.") from error
            if error.status == 429:
                raise platform_error(error) from error
            raise Transient(f"Pinterest did not renew the access: {error.status} {error.reason}") from error
        if not answer.get("access_token"):
            raise Transient("Pinterest did not renew the access: its answer holds no token.")
        return answer

    def revoke(self, token: str) -> None:
        """End a token; one that Pinterest does not know has ended already. Raises Transient."""
        try:
            answer = self._post("/oauth/token/revoke", {"token": token})
        except OutboundError as error:
            raise Transient("Pinterest could not be reached.") from error
        if answer.status not in (200, 204, 400, 404):
            raise Transient(f"Pinterest did not revoke the access: it answered {answer.status}.")

    def _post(self, path: str, form: dict[str, str]) -> Response:
        named = oauth.basic(self.client_id, self.client_secret)
        limits = {"timeout": oauth.TIMEOUT_SECONDS, "max_bytes": oauth.MAX_ANSWER_BYTES}
        return request("POST", f"{self.api}{path}", data=form, headers=named, **limits)  # type: ignore[arg-type]


def _is_of_the_grant(error: PinterestError) -> bool:
    """Whether the code or the refresh token is what Pinterest does not take, and not the app."""
    about_the_app = "application" in error.reason.lower() or "client" in error.reason.lower()
    return error.status in (400, 401) and error.code == INVALID_GRANT and not about_the_app
