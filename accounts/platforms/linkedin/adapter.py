"""LinkedIn: connection by OAuth 2.0, members and pages, posts at most once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, TokenExpired
from accounts.platforms.linkedin import accounts, media, posts
from accounts.platforms.linkedin.authorization import MEMBER_SCOPE, SCOPES, Application, may_post_for_pages
from accounts.platforms.linkedin.capabilities import CAPABILITIES, of_account
from accounts.platforms.linkedin.client import Api, platform_errors
from accounts.platforms.types import (
    AccountFacts,
    Authorization,
    Capabilities,
    Connection,
    Content,
    Grant,
    Identity,
    Progress,
    Published,
)


class LinkedIn(Platform):
    """LinkedIn members and pages.

    Publishing goes `start`, then for each file `upload` and `process`, then `create`, and `comment` where a first comment is
    wanted. Its state is {media}, the URNs of the uploads, with {pending, looks} while a file is processed, and `again` once
    LinkedIn had lost media; and {out} once nothing but the comment is missing.
    A grant's tokens are {access_token, refresh_token?}; its external_id is the URN of the member or the page, the author.
    One grant opens the member and all pages, and ending it would end it for all; so it is never revoked, and an owner ends
    it in LinkedIn's settings.
    """

    name = "linkedin"
    label = "LinkedIn"
    capabilities = CAPABILITIES
    irreversible = frozenset({"create", "comment"})

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when accounts can be connected."""
        missing = [f"LINKEDIN_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def capabilities_for(self, account: AccountFacts) -> Capabilities:
        """What the account takes, by what its grant allows."""
        return of_account(account)

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """LinkedIn's page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, kept: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The member, and the pages that the member may post for, as far as the grant goes.

        Raises CredentialsRejected, ConnectionUnavailable, Transient.
        """
        answer, granted = self._application().exchange(code, redirect_uri)
        tokens, expires_at = oauth.kept_tokens({}, answer), oauth.expiry_of(answer)
        api = self._api(tokens)
        try:
            with platform_errors():
                identities = [accounts.member(api)] if MEMBER_SCOPE in granted else []
                identities += accounts.pages(api) if may_post_for_pages(granted) else []
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        return tuple(
            Connection(identity, Grant({}, tokens, identity.external_id, expires_at), granted)
            for identity in identities
        )

    def identify(self, grant: Grant) -> Identity:
        """Ask LinkedIn whether the login still opens the account.

        Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient.
        """
        api = self._api(grant.tokens)
        with platform_errors():
            found = accounts.pages(api) if accounts.is_page(grant.external_id) else [accounts.member(api)]
        for identity in found:
            if identity.external_id == grant.external_id:
                return identity
        raise AccountDisconnected("The login does not open this account at LinkedIn any more.")

    def refresh(self, grant: Grant) -> Grant:
        """A new access token, where LinkedIn gave a refresh token. Raises AccountDisconnected, Transient."""
        answer = self._application().renew(grant.tokens)
        tokens = oauth.kept_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, oauth.expiry_of(answer))

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        author, state = grant.external_id, progress.state
        if progress.phase == "start":
            return posts.begin(author, content)
        api = self._api(grant.tokens)
        if progress.phase == "upload":
            return media.upload(api, author, content.media, state)
        if progress.phase == "process":
            return media.process(api, content.media, state)
        publish = {"create": posts.create, "comment": posts.comment}[progress.phase]
        return publish(api, author, content, state)

    def _application(self) -> Application:
        site = self.setting("AUTH_BASE", accounts.SITE).rstrip("/")
        scopes = tuple(self.setting("SCOPES", SCOPES).split())
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), site, scopes)

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        address = self.setting("API_BASE", "https://api.linkedin.com").rstrip("/")
        return Api(address, tokens["access_token"], self.setting("API_VERSION", "202610"))
