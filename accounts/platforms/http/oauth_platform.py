"""The base class of the adapters of platforms whose accounts are connected by OAuth 2.0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext_noop

from accounts.platforms.base import Platform
from accounts.platforms.errors import ContentRejected, CredentialsRejected, ReauthRequired, TokenExpired
from accounts.platforms.http.errors import ErrorTranslator
from accounts.platforms.http.oauth import PlatformOAuthClient, granted_scopes, merged_tokens, token_expiry
from accounts.platforms.types import AuthorizedAccount, Grant, Identity, OAuthAuthorizationRequest


class OAuthPlatform(Platform):
    """Base class of OAuth platforms' adapters: connects and identifies accounts, and renews and revokes their tokens.

    Subclasses say which OAuth client to use and which accounts a token gives access to.
    """

    errors: ClassVar[ErrorTranslator[Any]]
    required_settings: ClassVar[tuple[str, ...]] = ("CLIENT_ID", "CLIENT_SECRET")
    renewed_with: ClassVar[str | None] = "refresh_token"  # the token that is exchanged for new ones; None if none is
    # The tokens to revoke, in order; the refresh token first, because it could issue more.
    revoked_tokens: ClassVar[tuple[str, ...]] = ("refresh_token", "access_token")

    def oauth_client(self) -> PlatformOAuthClient:
        """Return the client of a platform's OAuth endpoints, with the operator's application from the settings."""
        raise NotImplementedError

    def fetch_identities(self, tokens: Mapping[str, Any]) -> tuple[Identity, ...]:
        """Return the platform's accounts that the OAuth tokens give access to. Raises PlatformHttpError, OutboundError."""
        raise NotImplementedError

    def details_stored_with_tokens(self, identity: Identity) -> Mapping[str, Any]:
        """Return what the OAuth platform's adapter stores with an account's tokens, such as a user name."""
        return {}

    def unavailable_reason(self, method: str) -> str | None:
        """Default for adapters of OAuth platforms: return which settings of the application are missing, or None."""
        missing = [f"{self.name.upper()}_{key}" for key in self.required_settings if not self.platform_setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def begin_oauth(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> OAuthAuthorizationRequest:
        """Default for adapters of OAuth platforms: return the URL at which an account's owner grants access."""
        return self.oauth_client().authorization_request(state, redirect_uri)

    def exchange_code_for_accounts(
        self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]
    ) -> tuple[AuthorizedAccount, ...]:
        """Default for adapters of OAuth platforms: exchange a code for connections. Raises CredentialsRejected, Transient."""
        answer = self.oauth_client().exchange_code(code, redirect_uri, stored)
        tokens = merged_tokens({}, answer)
        return self.accounts_accessible_with_tokens(answer, tokens, lambda: self.fetch_identities(tokens))

    def accounts_accessible_with_tokens(
        self, answer: Mapping[str, Any], tokens: Mapping[str, Any], identities: Callable[[], Iterable[Identity]]
    ) -> tuple[AuthorizedAccount, ...]:
        """Default for adapters of OAuth platforms: return the accounts to which new tokens give access, with their secrets.

        Raises CredentialsRejected, ConnectionUnavailable, Transient.
        """
        try:
            with self.errors.translating_repeatable_call_errors():
                found = tuple(identities())
        except (TokenExpired, ReauthRequired, ContentRejected) as error:
            raise CredentialsRejected(error.message) from error
        expires_at, scopes = token_expiry(answer), granted_scopes(answer)
        return tuple(
            AuthorizedAccount(
                each, Grant({}, {**self.details_stored_with_tokens(each), **tokens}, each.external_id, expires_at), scopes
            )
            for each in found
        )

    def check_and_identify(self, grant: Grant) -> Identity:
        """Ask the OAuth platform whether the tokens still give access to the connected account.

        Raises TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
        """
        with self.errors.translating_repeatable_call_errors():
            identities = self.fetch_identities(grant.tokens)
        for identity in identities:
            if identity.external_id == grant.external_id:
                return identity
        raise ReauthRequired(gettext_noop("The access token no longer opens the account that was connected."))

    def refresh_grant(self, grant: Grant) -> Grant:
        """Default for adapters of OAuth platforms: renew an account's tokens. Raises ReauthRequired, Transient."""
        if self.renewed_with is None:
            return super().refresh_grant(grant)
        answer = self.oauth_client().renew_tokens(grant.tokens[self.renewed_with])
        tokens = merged_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, token_expiry(answer))

    def revoke_grant(self, grant: Grant) -> None:
        """Default for adapters of OAuth platforms: revoke an account's tokens. Raises Transient."""
        for name in self.revoked_tokens:
            self.oauth_client().revoke_token(grant.tokens[name])
