"""LinkedIn: connection by OAuth 2.0, members and pages, posts at most once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, ConnectionUnavailable, CredentialsRejected, TokenExpired
from accounts.platforms.linkedin import accounts, media, posts
from accounts.platforms.linkedin.authorization import (
    KINDS,
    MEMBER,
    MEMBER_SCOPE,
    Application,
    Kind,
    may_post_for_pages,
    oauth_schema,
)
from accounts.platforms.linkedin.capabilities import CAPABILITIES, of_account
from accounts.platforms.linkedin.client import Api, platform_errors
from accounts.platforms.linkedin.setup import SETUP
from accounts.platforms.types import (
    AccountDetails,
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
    A grant's tokens are {access_token, refresh_token?, application}, the last one being the kind of the application that
    they were issued to, without which it is the one for members; its external_id is the URN of the member or the
    page, the author. One grant opens all pages, and ending it would end it for all; so it is never revoked, and an owner
    ends it in LinkedIn's settings.
    """

    name = "linkedin"
    label = "LinkedIn"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"create", "comment"})

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when accounts can be connected, be it by one application alone."""
        if self._offered():
            return None
        missing = (f"{self._missing(kind)} for {kind.label}" for kind in KINDS.values())
        return f"The operator of this service has not set {', nor '.join(missing)}."

    @property
    def oauth_schema(self) -> Mapping[str, Any]:
        """The kind of account, as far as there is a choice."""
        return oauth_schema(self._offered())

    def capabilities_for(self, account: AccountDetails) -> Capabilities:
        """What the account takes, by what its grant allows."""
        return of_account(account)

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """LinkedIn's page of consent, for the application of the kind that was chosen. Raises ConnectionUnavailable."""
        kind = given.get("kind") or next(iter(self._offered()), MEMBER.name)
        authorization = self._application(kind).authorize(state, redirect_uri)
        return replace(authorization, stored={"application": kind})

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The member, or the pages that the member may post for; both where the grant goes so far.

        Raises CredentialsRejected, ConnectionUnavailable, Transient.
        """
        application = self._application(stored.get("application", MEMBER.name))
        answer, granted = application.exchange(code, redirect_uri)
        tokens = {**oauth.kept_tokens({}, answer), "application": application.kind.name}
        expires_at, api = oauth.expiry_of(answer), self._api(tokens)
        try:
            with platform_errors():
                person = accounts.person(api, openid=application.kind is MEMBER)
                identities = [person] if MEMBER_SCOPE in granted else []
                identities += accounts.pages(api) if may_post_for_pages(granted) else []
        except (TokenExpired, AccountDisconnected) as error:
            raise CredentialsRejected(error.message) from error
        if not identities:
            raise CredentialsRejected(
                f"{person.handle} may not post for any LinkedIn page.",
                suggested_action="Have the page's administrators give this person a role that may post, or sign in to "
                "LinkedIn as somebody who has one; then begin the connection again.",
            )
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
            if accounts.is_page(grant.external_id):
                identity = accounts.page(api, grant.external_id)
            else:
                identity = accounts.person(api, openid=_kind(grant) == MEMBER.name)
        if identity and identity.external_id == grant.external_id:
            return identity
        raise AccountDisconnected("The login does not open this account at LinkedIn any more.")

    def refresh(self, grant: Grant) -> Grant:
        """A new access token, where LinkedIn gave a refresh token; LinkedIn takes it from the application that it was given
        to alone. Raises AccountDisconnected, ConnectionUnavailable, Transient."""
        answer = self._application(_kind(grant)).renew(grant.tokens)
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

    def _offered(self) -> list[str]:
        """The kinds whose applications are set up."""
        return [name for name, kind in KINDS.items() if not self._missing(kind)]

    def _missing(self, kind: Kind) -> str:
        keys = (f"{kind.prefix}{key}" for key in ("CLIENT_ID", "CLIENT_SECRET"))
        return " and ".join(f"LINKEDIN_{key}" for key in keys if not self.setting(key))

    def _application(self, name: str) -> Application:
        kind = KINDS[name]
        if missing := self._missing(kind):
            raise ConnectionUnavailable(
                f"The operator of this service has not set {missing}, which LinkedIn needs for {kind.label}."
            )
        site = self.setting("AUTH_BASE", accounts.SITE).rstrip("/")
        client_id, secret = (self.setting(f"{kind.prefix}{key}") for key in ("CLIENT_ID", "CLIENT_SECRET"))
        scopes = tuple(self.setting(f"{kind.prefix}SCOPES").split()) or kind.scopes
        return Application(kind, client_id, secret, site, scopes)

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        address = self.setting("API_BASE", "https://api.linkedin.com").rstrip("/")
        return Api(address, tokens["access_token"], self.setting("API_VERSION", "202610"))


def _kind(grant: Grant) -> str:
    """The kind of the application that the tokens were issued to; it is not named where there was but one application."""
    return str(grant.tokens.get("application", MEMBER.name))
