"""The LinkedIn adapter: connects members and pages by OAuth 2.0, and publishes their posts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, ReauthRequired
from accounts.platforms.http.oauth import granted_scopes, merged_tokens, token_expiry
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.linkedin import accounts, authorization, media, posts
from accounts.platforms.linkedin.authorization import (
    APPLICATION_KINDS,
    MEMBER_APPLICATION,
    SETUP,
    ApplicationKind,
    LinkedInOAuthClient,
)
from accounts.platforms.linkedin.capabilities import CAPABILITIES, capabilities_for_scopes
from accounts.platforms.linkedin.client import ERRORS, Api
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import (
    AccountLimitsAndScopes,
    AuthorizedAccount,
    Capabilities,
    Content,
    Grant,
    Identity,
    OAuthAuthorizationRequest,
    Progress,
    Published,
)


class LinkedIn(OAuthPlatform):
    """The adapter that connects LinkedIn members and pages and publishes to them.

    The steps are `start`, for each file `upload` and `process`, then `create`, and `comment` for a first comment. The state
    is {media}, the URNs of the uploads, with {pending, looks} while a file is processed and `again` after LinkedIn had lost
    media. `comment` needs none. A grant's tokens are {access_token, refresh_token?, application};
    `application` is the kind of the application that they were issued to, the one for members if it is missing. The
    external_id is the URN of the member or page, the author.
    """

    name = "linkedin"
    label = "LinkedIn"
    icon = "linkedin-in"
    colour = "#0a66c2"
    look = PostLook(at_sign=False, card_option="article")
    capabilities = CAPABILITIES
    setup = SETUP
    errors = ERRORS
    irreversible = frozenset({"create", "comment"})
    # Revoking would also end the access of the login's other accounts. Owners can end it in LinkedIn's settings.
    revoked_tokens = ()

    def unavailable_reason(self, method: str) -> str | None:
        """Method of LinkedIn's adapter: return which settings of the OAuth apps are missing; None if an app is set up."""
        if self._offered():
            return None
        missing = (f"{self._missing(kind)} for {kind.label}" for kind in APPLICATION_KINDS.values())
        return f"The operator of this service has not set {', nor '.join(missing)}."

    @property
    def oauth_input_schema(self) -> Mapping[str, Any]:
        """The LinkedIn adapter's JSON Schema of an owner's choice before connecting: member profile, or pages."""
        return authorization.account_kind_schema(self._offered())

    def capabilities_for(self, account: AccountLimitsAndScopes) -> Capabilities:
        """Method of LinkedIn's adapter: return an account's capabilities according to the OAuth scopes that were granted."""
        return capabilities_for_scopes(account)

    def begin_oauth(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> OAuthAuthorizationRequest:
        """Method of LinkedIn's adapter: return the OAuth URL for the chosen kind of account. Raises ConnectionUnavailable."""
        kind = given.get("kind") or next(iter(self._offered()), MEMBER_APPLICATION.name)
        return replace(self._oauth_client_for(kind).authorization_request(state, redirect_uri), stored={"application": kind})

    def exchange_code_for_accounts(
        self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]
    ) -> tuple[AuthorizedAccount, ...]:
        """Method of LinkedIn's adapter: exchange an OAuth code for connections to the member, the member's pages, or both.

        Raises CredentialsRejected, ConnectionUnavailable, Transient.
        """
        client = self._oauth_client_for(stored.get("application", MEMBER_APPLICATION.name))
        answer = client.exchange_code(code, redirect_uri, stored)
        tokens = {**merged_tokens({}, answer), "application": client.kind.name}
        return self.accounts_accessible_with_tokens(answer, tokens, lambda: self._found(tokens, granted_scopes(answer)))

    def _found(self, tokens: Mapping[str, Any], granted: tuple[str, ...]) -> list[Identity]:
        api = self._api(tokens)
        person = accounts.fetch_member(api, openid=tokens["application"] == MEMBER_APPLICATION.name)
        found = [person] if authorization.MEMBER_SCOPE in granted else []
        found += accounts.fetch_pages(api) if authorization.may_post_for_pages(granted) else []
        if not found:
            raise CredentialsRejected(
                f"{person.handle} may not post for any LinkedIn page.",
                suggested_action=gettext_noop(
                    "Ask the page's administrators for a role that may post, or sign in to LinkedIn as "
                    "somebody who has one. Then start the connection again."
                ),
            )
        return found

    def check_and_identify(self, grant: Grant) -> Identity:
        """Method of LinkedIn's adapter: ask whether the login still gives access to the connected member or page.

        Raises TokenExpired, ReauthRequired, ConnectionUnavailable, Transient.
        """
        api = self._api(grant.tokens)
        with ERRORS.translating_repeatable_call_errors():
            if accounts.is_page_urn(grant.external_id):
                identity = accounts.fetch_page_if_permitted(api, grant.external_id)
            else:
                identity = accounts.fetch_member(api, openid=_kind(grant) == MEMBER_APPLICATION.name)
        if identity and identity.external_id == grant.external_id:
            return identity
        raise ReauthRequired(gettext_noop("The login does not open this account at LinkedIn any more."))

    def refresh_grant(self, grant: Grant) -> Grant:
        """Method of LinkedIn's adapter: renew an account's access token with the refresh token, which only some apps get.

        Raises ReauthRequired, ConnectionUnavailable, Transient.
        """
        if not grant.tokens.get("refresh_token"):
            raise ReauthRequired(
                gettext_noop(
                    "LinkedIn's access to this account ends 60 days after its owner granted it and has to be granted again."
                )
            )
        answer = self._oauth_client_for(_kind(grant)).renew_tokens(grant.tokens["refresh_token"])
        tokens = merged_tokens(grant.tokens, answer)
        return Grant(grant.credentials, tokens, grant.external_id, token_expiry(answer))

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Method of LinkedIn's adapter: take the next step: upload a file, create the post, or add its first comment."""
        author = grant.external_id
        if progress.phase == "start":
            return posts.check_content_and_return_first_step(author, content, progress)
        api = self._api(grant.tokens)
        if progress.phase == "upload":
            return media.upload_next_file(api, author, content.media, progress)
        if progress.phase == "process":
            return media.check_processing(api, content.media, progress)
        publish = {"create": posts.create_post, "comment": posts.add_first_comment}[progress.phase]
        return publish(api, author, content, progress)

    def _offered(self) -> list[str]:
        """Return the kinds of accounts (member, page) that the LinkedIn adapter can connect: those with an OAuth app."""
        return [name for name, kind in APPLICATION_KINDS.items() if not self._missing(kind)]

    def _missing(self, kind: ApplicationKind) -> str:
        keys = (f"{kind.prefix}{key}" for key in ("CLIENT_ID", "CLIENT_SECRET"))
        return " and ".join(f"LINKEDIN_{key}" for key in keys if not self.platform_setting(key))

    def _oauth_client_for(self, name: str) -> LinkedInOAuthClient:
        kind = APPLICATION_KINDS[name]
        if missing := self._missing(kind):
            raise ConnectionUnavailable(
                f"The operator of this service has not set {missing}, which LinkedIn needs for {kind.label}."
            )
        site = self.platform_setting("AUTH_BASE", accounts.SITE).rstrip("/")
        return LinkedInOAuthClient(
            self.platform_setting(f"{kind.prefix}CLIENT_ID"),
            self.platform_setting(f"{kind.prefix}CLIENT_SECRET"),
            authorize_url=f"{site}/oauth/v2/authorization",
            token_url=f"{site}/oauth/v2/accessToken",
            scopes=tuple(self.platform_setting(f"{kind.prefix}SCOPES").split()) or kind.scopes,
            kind=kind,
        )

    def _api(self, tokens: Mapping[str, Any]) -> Api:
        address = self.platform_setting("API_BASE", "https://api.linkedin.com").rstrip("/")
        return Api(address, tokens["access_token"], self.platform_setting("API_VERSION", "202610"))


def _kind(grant: Grant) -> str:
    """Return the kind of OAuth app (member or pages) that the LinkedIn adapter stored with an account's tokens."""
    return str(grant.tokens.get("application", MEMBER_APPLICATION.name))
