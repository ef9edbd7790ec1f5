"""The Mastodon adapter: connects accounts by OAuth or by an access token, and publishes posts ("statuses")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from accounts.platforms import polls
from accounts.platforms.base import Platform
from accounts.platforms.errors import CredentialsRejected, PlatformError, ReauthRequired
from accounts.platforms.http.oauth import granted_scopes
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    fetchable_picture_url_or_empty,
    one_line,
    required_matching_text,
)
from accounts.platforms.mastodon import authorization, instance, lookup, media, people, statuses
from accounts.platforms.mastodon.capabilities import (
    CAPABILITIES,
    CREDENTIALS_SCHEMA,
    OAUTH_SCHEMA,
    REQUIRED_SCOPES,
    SETUP,
    capabilities_with_limits,
)
from accounts.platforms.mastodon.client import ERRORS, MastodonError, ServerClient, entity_id, http_url_or_empty
from accounts.platforms.people import Person
from accounts.platforms.thread_option import raise_if_platform_would_refuse_thread
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
from config.outbound import NotSentToForbiddenHost, OutboundError

CLIENT_NAME = "Social Publishing Service"

_TOKEN = re.compile(r"[\x21-\x7e]+")
_USERNAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class Mastodon(Platform):
    """The adapter that connects accounts at any Mastodon server and publishes to them.

    Publishing goes `start`, then for media `upload` (one file a step) and `process` (until the server has processed them),
    then `create` for each segment. Its state is {key, after, media, pending, looks}: the idempotency key, the
    account's newest status before the publication, the ids of the uploads, those still processed, and how often they were
    checked; then also `permalink`, the first segment's. The segments are the ids of the published statuses.
    Tokens do not expire. A pasted token is in the grant's credentials, one issued by OAuth in its tokens: {instance,
    account, and by OAuth access_token, client_id, client_secret}.
    """

    name = "mastodon"
    label = "Mastodon"
    icon = "mastodon"
    colour = "#6364ff"
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials", "oauth")
    credentials_schema = CREDENTIALS_SCHEMA
    oauth_input_schema = OAUTH_SCHEMA
    irreversible = frozenset({"create"})

    def capabilities_for(self, account: AccountLimitsAndScopes) -> Capabilities:
        """Adapter method that returns the capabilities of a Mastodon account, with its server's limits."""
        return capabilities_with_limits(**account.limits)

    def connect_with_credentials(self, credentials: Mapping[str, Any]) -> AuthorizedAccount:
        """Adapter method that connects a Mastodon account by a pasted access token. Raises CredentialsRejected, Transient."""
        token = credentials["access_token"].strip()
        if not _TOKEN.fullmatch(token):
            raise CredentialsRejected(gettext_noop("The access token holds characters that no token has."))
        address = instance.instance_url_from_owner_input(credentials["instance"])
        with _connection_errors():
            identity, tokens = _opened(ServerClient(address, token))
        grant = Grant({**credentials, "access_token": token}, tokens, identity.external_id)
        return AuthorizedAccount(identity=identity, grant=grant)

    def begin_oauth(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> OAuthAuthorizationRequest:
        """Adapter method that registers an OAuth app at an owner's Mastodon server. Raises CredentialsRejected, Transient."""
        own = urlsplit(redirect_uri)
        with _connection_errors():
            return authorization.register_app_and_begin_oauth(
                given["instance"],
                state=state,
                redirect_uri=redirect_uri,
                client_name=self.platform_setting("CLIENT_NAME") or CLIENT_NAME,
                client_website=self.platform_setting("CLIENT_WEBSITE") or f"{own.scheme}://{own.netloc}",
            )

    def exchange_code_for_accounts(
        self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]
    ) -> tuple[AuthorizedAccount, ...]:
        """Adapter method that exchanges an OAuth code for a Mastodon account. Raises CredentialsRejected, Transient."""
        with _connection_errors():
            answer = authorization.exchange_code(code, redirect_uri=redirect_uri, stored=stored)
            identity, tokens = _opened(ServerClient(stored["instance"], answer["access_token"]))
        tokens |= {"access_token": answer["access_token"]}
        tokens |= {name: stored[name] for name in ("client_id", "client_secret")}
        return (AuthorizedAccount(identity, Grant({}, tokens, identity.external_id), granted_scopes(answer)),)

    def check_and_identify(self, grant: Grant) -> Identity:
        """Adapter method that asks the Mastodon server whose access token it is. Raises ReauthRequired, Transient."""
        with ERRORS.translating_repeatable_call_errors():
            identity = _identity(ServerClient.for_grant(grant))
        if identity.external_id != grant.external_id:
            raise ReauthRequired(gettext_noop("The token opens another account than the one that was connected."))
        return identity

    def revoke_grant(self, grant: Grant) -> None:
        """Adapter method that revokes a Mastodon access token which was issued by OAuth.

        A token that the owner pasted can be revoked by the owner only.

        Raises Transient.
        """
        if "client_id" in grant.tokens:
            server = ServerClient.for_grant(grant)
            authorization.oauth_client_from_registration(server.address, grant.tokens).revoke_token(server.token)

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Adapter method that takes the next step of a Mastodon publication: upload or check media, or create a status.

        Raises as Platform.publish_step, but never TokenExpired.
        """
        server = ServerClient.for_grant(grant)
        if progress.phase == "create":
            return statuses.create_status(server, content, progress)
        with ERRORS.translating_repeatable_call_errors():
            if progress.phase == "upload":
                return media.upload_next_file(server, content.media, progress)
            if progress.phase == "process":
                return media.check_processing(server, progress)
            limits = capabilities_with_limits(**grant.limits)
            raise_if_platform_would_refuse_thread(content, limits, "the account's server")
            polls.raise_if_platform_would_refuse_poll(content, limits, "the account's server")
            return statuses.first_step_with_idempotency_key(server, content)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | Published | NotPublishedProof:
        """Adapter method that searches for the Mastodon status which an interrupted attempt may have published.

        Raises as Platform.find_or_rule_out_published_post, but never TokenExpired.
        """
        with ERRORS.translating_repeatable_call_errors():
            return statuses.find_or_rule_out_created_status(ServerClient.for_grant(grant), content, progress)

    def find_people(self, grant: Grant, text: str) -> list[Person]:
        """Adapter method that finds accounts to mention at a Mastodon server. Raises ReauthRequired, Transient."""
        with ERRORS.translating_repeatable_call_errors():
            return people.find_people(ServerClient.for_grant(grant), text)


def _opened(server: ServerClient) -> tuple[Identity, dict[str, Any]]:
    """Return the identity of the Mastodon account to connect, with the server's URL and the account's id to store."""
    identity = _identity(server)
    own_id = identity.external_id.partition("@")[0]
    lookup.fetch_newest_status_id(ServerClient(server.address, server.token, own_id))  # refused without read:statuses
    return identity, {"instance": server.address, "account": own_id}


def _identity(server: ServerClient) -> Identity:
    """Return the identity of the account that the Mastodon adapter connects or checks. Raises MastodonError, OutboundError.

    `external_id` is the account's id followed by the server's host: names may change, ids do not.
    Source: docs.joinmastodon.org, accounts/verify_credentials.
    """
    account = server.get("/api/v1/accounts/verify_credentials")
    username = required_matching_text(account, "username", _USERNAME, "username")
    host = server.address.partition("://")[2]  # with the port unless it is the default one
    return Identity(
        external_id=f"{entity_id(account)}@{host}",
        handle=f"{username}@{host}",
        display_name=one_line(account.get("display_name")),
        avatar_url=fetchable_picture_url_or_empty(account.get("avatar_static"))
        or fetchable_picture_url_or_empty(account.get("avatar")),
        profile_url=http_url_or_empty(account.get("url")) or f"{server.address}/@{username}",
        limits=instance.fetch_limits(server),
    )


@contextmanager
def _connection_errors() -> Iterator[None]:
    """Context manager in which the Mastodon adapter connects an account; it turns HTTP errors into PlatformErrors."""
    try:
        yield
    except NotSentToForbiddenHost as error:
        raise CredentialsRejected(f"The service does not connect to this instance: {error}") from error
    except UnreadableAnswer as error:
        raise CredentialsRejected(gettext_noop("The server at this address does not have Mastodon's API.")) from error
    except OutboundError as error:
        raise ERRORS.translate_repeatable_call_error(error) from error
    except MastodonError as error:
        raise _refused_token(error) from error


def _refused_token(error: MastodonError) -> PlatformError:
    if error.status == 429 or error.status >= 500:
        return ERRORS.translate_repeatable_call_error(error)
    if error.status == 401:
        return CredentialsRejected(gettext_noop("The instance does not accept this access token."))
    if 300 <= error.status < 400:
        return CredentialsRejected(gettext_noop("This address only redirects to another; give the instance's own host name."))
    return CredentialsRejected(
        f"The instance refuses the access token: {error.status} {error.reason}",
        suggested_action=f"Connect with an account's token that has {REQUIRED_SCOPES}.",
    )
