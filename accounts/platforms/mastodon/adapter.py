"""Mastodon: connection by OAuth or by a pasted access token, statuses that can be looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from accounts.platforms import polls
from accounts.platforms.base import Platform
from accounts.platforms.chains import check
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, PlatformError
from accounts.platforms.mastodon import account, authorization, instance, lookup, media, statuses
from accounts.platforms.mastodon.capabilities import (
    CAPABILITIES,
    CREDENTIALS_SCHEMA,
    OAUTH_SCHEMA,
    SCOPES,
    WIDE_SCOPES,
    of_instance,
)
from accounts.platforms.mastodon.client import (
    MastodonError,
    Server,
    UnreadableAnswer,
    platform_error,
    platform_errors,
)
from accounts.platforms.mastodon.setup import SETUP
from accounts.platforms.oauth import scopes_of
from accounts.platforms.types import (
    Absent,
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
from config.outbound import DestinationRefused, OutboundError

CLIENT_NAME = "Social Publishing Service"

_TOKEN = re.compile(r"[\x21-\x7e]+")


class Mastodon(Platform):
    """Accounts on any server with Mastodon's API.

    Publishing goes `start`, then for media `upload` (one file a step) and `process` (the server's own work), then
    `create` for each segment. Its state is {key, after, media, pending, looks, sent}: the Idempotency-Key of the round,
    the account's newest status before it, the ids of the uploads, those still processed, how often they were looked at,
    and the ids of the segments that are out; then also `permalink`, the first one's.
    Tokens never run out. One that the owner pasted stands in the grant's credentials, one that was granted in its tokens:
    {instance, account, and by OAuth access_token, client_id, client_secret}.
    """

    name = "mastodon"
    label = "Mastodon"
    capabilities = CAPABILITIES
    setup = SETUP
    methods = ("credentials", "oauth")
    credentials_schema = CREDENTIALS_SCHEMA
    oauth_schema = OAUTH_SCHEMA
    irreversible = frozenset({"create"})

    def unavailable_reason(self, method: str) -> str | None:
        """None: tokens are made by the accounts' owners at their servers, and servers register any application."""
        return None

    def capabilities_for(self, account: AccountDetails) -> Capabilities:
        """What the account's instance takes."""
        return of_instance(**account.limits)

    def connect(self, credentials: Mapping[str, Any]) -> Connection:
        """Ask the instance whose token it is. Raises CredentialsRejected, Transient."""
        token = credentials["access_token"].strip()
        if not _TOKEN.fullmatch(token):
            raise CredentialsRejected("The access token holds characters that no token has.")
        address = instance.address(credentials["instance"])
        with _connection_errors():
            identity, tokens = _opened(Server(address, token))
        grant = Grant({**credentials, "access_token": token}, tokens, identity.external_id)
        return Connection(identity=identity, grant=grant)

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Register the service at the instance. Raises CredentialsRejected, Transient."""
        own = urlsplit(redirect_uri)
        with _connection_errors():
            return authorization.authorize(
                given["instance"],
                state=state,
                redirect_uri=redirect_uri,
                client_name=self.setting("CLIENT_NAME") or CLIENT_NAME,
                client_website=self.setting("CLIENT_WEBSITE") or f"{own.scheme}://{own.netloc}",
            )

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The one account that a token opens. Raises CredentialsRejected, Transient."""
        with _connection_errors():
            answer = authorization.exchange(code, redirect_uri=redirect_uri, stored=stored)
            identity, tokens = _opened(Server(stored["instance"], answer["access_token"]))
        tokens |= {"access_token": answer["access_token"]}
        tokens |= {name: stored[name] for name in ("client_id", "client_secret")}
        return (Connection(identity, Grant({}, tokens, identity.external_id), scopes_of(answer)),)

    def identify(self, grant: Grant) -> Identity:
        """Ask the server whose token it is. Raises AccountDisconnected, Transient."""
        with platform_errors():
            identity = account.identity(Server.of(grant))
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another account than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """Raises AccountDisconnected: the token that there is, is the only one."""
        raise AccountDisconnected("The account's server no longer accepts the access token.")

    def revoke(self, grant: Grant) -> None:
        """End a token that was granted to the service; one that was pasted is for its owner's application alone to end."""
        if "client_id" in grant.tokens:
            with platform_errors():
                authorization.revoke(Server.of(grant), grant.tokens)

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names. Raises as the base's, but never TokenExpired."""
        server = Server.of(grant)
        if progress.phase == "create":
            return statuses.create(server, content, progress.state)
        with platform_errors():
            if progress.phase == "upload":
                return media.upload_next(server, content.media, progress.state)
            if progress.phase == "process":
                return media.look(server, progress.state)
            limits = of_instance(**grant.limits)
            check(content, limits, "the account's server")
            polls.check(content, limits, "the account's server")
            return statuses.begin(server, content)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Look among the account's statuses since the round began, or since the segment before. Raises as the base's, but
        never TokenExpired."""
        with platform_errors():
            return statuses.find(Server.of(grant), content, progress.state)


def _opened(server: Server) -> tuple[Identity, dict[str, Any]]:
    """Whose account the token opens, and {instance, account}. Raises MastodonError, OutboundError."""
    identity = account.identity(server)
    own_id = identity.external_id.partition("@")[0]
    lookup.newest_status(Server(server.address, server.token, own_id))  # refused where read:statuses is missing
    return identity, {"instance": server.address, "account": own_id}


@contextmanager
def _connection_errors() -> Iterator[None]:
    """Turn the faults of calls that connect into platform errors."""
    try:
        yield
    except DestinationRefused as error:
        raise CredentialsRejected(f"The service does not connect to this instance: {error}") from error
    except UnreadableAnswer as error:
        raise CredentialsRejected("What answers at this address is no server with Mastodon's API.") from error
    except OutboundError as error:
        raise platform_error(error) from error
    except MastodonError as error:
        raise _refused_token(error) from error


def _refused_token(error: MastodonError) -> PlatformError:
    if error.status == 429 or error.status >= 500:
        return platform_error(error)
    if error.status == 401:
        return CredentialsRejected("The instance does not accept this access token.")
    if 300 <= error.status < 400:
        return CredentialsRejected("This address only leads on to another; give the instance's own host name.")
    reason = error.message or "no reason given"
    return CredentialsRejected(
        f"The instance refuses the access token: {error.status} {reason}",
        suggested_action=f"Connect with an account's token that has the scopes {', '.join(SCOPES)}, or "
        f"{' and '.join(WIDE_SCOPES)} where the server knows no narrower ones.",
    )
