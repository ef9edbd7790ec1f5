"""The `Platform` base class: a platform's capabilities, and the methods that connect its accounts and publish to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, OutcomeUnknown, ReauthRequired
from accounts.platforms.operator_setup import ConnectionPrerequisites
from accounts.platforms.people import Person
from accounts.platforms.post_look import PostLook
from accounts.platforms.types import (
    AccountLimitsAndScopes,
    AuthorizedAccount,
    Capabilities,
    Content,
    Grant,
    Identity,
    NotPublishedProof,
    OAuthAuthorizationRequest,
    Progress,
    Published,
)

START = Progress("start")


class Platform:
    """Base class of the adapters that connect accounts of a social platform and publish posts to them.

    An instance has no state and can be used by several threads at once. Methods raise only the errors of
    accounts/platforms/errors.py. An adapter implements those of its `methods` of connection: `connect_with_credentials`
    for credentials, `begin_oauth` and `exchange_code_for_accounts` for oauth.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    icon: ClassVar[str] = ""  # the name of a brand icon of Font Awesome; without one, pages show the label's letter
    colour: ClassVar[str] = "#5a544d"  # the ground of the icon, on which white has a contrast of 3:1
    look: ClassVar[PostLook] = PostLook()  # how the platform arranges a post
    capabilities: ClassVar[Capabilities]
    setup: ClassVar[ConnectionPrerequisites]
    methods: ClassVar[tuple[str, ...]] = ("oauth",)  # oauth, credentials; the first one is the default
    # JSON Schemas of strings by name; `title` is the label for people, `writeOnly` marks a secret.
    credentials_schema: ClassVar[Mapping[str, Any] | None] = None
    irreversible: ClassVar[frozenset[str]] = frozenset()  # the phases of a publication that publish
    bills_reads_of_accounts: ClassVar[bool] = False  # if so, `check_and_identify` is called only for people, not periodically
    settles_seconds: ClassVar[float] = 60.0  # how long the platform may still carry out a request that got no answer

    def unavailable_reason(self, method: str) -> str | None:
        """Base method of adapters: return why a connection method (OAuth, credentials) is unavailable; by default None."""
        return None

    @property
    def oauth_input_schema(self) -> Mapping[str, Any] | None:
        """Base method of adapters: return the JSON Schema of what an owner enters before OAuth, such as a server, or None.

        The schema has the format of `credentials_schema`. A property with a `default` may be left out.
        """
        return None

    def capabilities_for(self, account: AccountLimitsAndScopes) -> Capabilities:
        """Base method of adapters: return the capabilities for one account, whose server and OAuth scopes may matter."""
        return self.capabilities

    def link_card_url(self, text: str, options: Mapping[str, Any], *, with_media: bool) -> str | None:
        """Base method of adapters: return the URL of the web page that a post's link card shows; by default None."""
        return None

    def connect_with_credentials(self, credentials: Mapping[str, Any]) -> AuthorizedAccount:
        """Base method of adapters: connect an account with its owner's credentials; raises ConnectionUnavailable by default.

        Raises CredentialsRejected, Transient.
        """
        raise ConnectionUnavailable(gettext_noop("This platform takes no credentials."))

    def begin_oauth(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> OAuthAuthorizationRequest:
        """Base method of adapters: return the URL at which an owner grants access by OAuth; ConnectionUnavailable by default.

        `given` is what the owner entered (`oauth_input_schema`). Raises CredentialsRejected (given), Transient.
        """
        raise ConnectionUnavailable(gettext_noop("This platform has no OAuth."))

    def exchange_code_for_accounts(
        self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]
    ) -> tuple[AuthorizedAccount, ...]:
        """Base method of adapters: exchange an OAuth code for connections to all accounts to which the owner gave access.

        These may be pages, boards or channels. The owner chooses if there are several. Raises CredentialsRejected (an invalid
        code, a scope not granted), Transient.
        """
        raise ConnectionUnavailable(gettext_noop("This platform has no OAuth."))

    def check_and_identify(self, grant: Grant) -> Identity:
        """Base method of adapters: ask to which account these secrets belong; raises ConnectionUnavailable by default.

        Raises TokenExpired, ReauthRequired, Transient.
        """
        raise ConnectionUnavailable(gettext_noop("This platform cannot be asked."))

    def refresh_grant(self, grant: Grant) -> Grant:
        """Base method of adapters: return an account's secrets with new OAuth tokens; raises ReauthRequired by default.

        Raises Transient for other failures.
        """
        raise ReauthRequired(f"{self.label} no longer gives access to this account, and the service cannot renew it.")

    def revoke_grant(self, grant: Grant) -> None:
        """Base method of adapters: revoke the access that an account's owner gave to the service, if the platform can.

        Raises Transient for every error.
        """

    def initial_progress(self, grant: Grant, content: Content) -> Progress:
        """Base method of adapters: return the step with which publishing a post begins; by default START.

        An adapter may return a later step for a post that needs nothing from the platform before it. This method calls no
        server, and may raise any error, after which publishing begins with START.
        """
        return START

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Base method of adapters: take one step of publishing a post at the platform, such as an upload.

        `progress.phase` names the step; the first is `start`. Steps may be repeated unless they are irreversible. Raises
        ContentRejected, TokenExpired, ReauthRequired, Transient (nothing was done), OutcomeUnknown.
        """
        raise ConnectionUnavailable(gettext_noop("This platform cannot be published to."))

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | Published | NotPublishedProof:
        """Base method of adapters: ask whether an earlier attempt published the post; raises OutcomeUnknown by default.

        `progress.phase` is the irreversible step that was attempted. Only `verifiable` platforms have this method. If the
        attempt has published, the result is that of the step, which may be another step (the next segment of a thread).
        NotPublishedProof means that the post certainly does not exist, so the step may be repeated. Raises OutcomeUnknown if
        neither is certain, TokenExpired, ReauthRequired, Transient (ask again later).
        """
        raise OutcomeUnknown(gettext_noop("This platform cannot be asked whether the post is out."), final=True)

    def find_people(self, grant: Grant, text: str) -> list[Person]:
        """Base method of adapters: find up to MAX_PEOPLE people to mention, by a part of their name or handle.

        Only platforms with the capability `finds_people` have this method; the base class `Platform` raises
        ConnectionUnavailable. Raises TokenExpired, ReauthRequired, Transient.
        """
        raise ConnectionUnavailable(gettext_noop("This platform has no look-up of people."))

    def platform_setting(self, key: str, default: str = "") -> str:
        """Base method of adapters: return the operator's setting `<PLATFORM>_<key>`, such as `BLUESKY_API_BASE`."""
        return settings.PLATFORM_SETTINGS.get(f"{self.name.upper()}_{key}", default)
