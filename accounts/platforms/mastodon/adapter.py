"""Mastodon: connection by a pasted access token, statuses that can be looked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, PlatformError
from accounts.platforms.mastodon import account, instance, lookup, media, statuses
from accounts.platforms.mastodon.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA, SCOPES
from accounts.platforms.mastodon.client import (
    MastodonError,
    Server,
    UnreadableAnswer,
    platform_error,
    platform_errors,
)
from accounts.platforms.types import Connection, Content, Grant, Identity, Progress, Published
from config.outbound import DestinationRefused, OutboundError

_TOKEN = re.compile(r"[\x21-\x7e]+")


class Mastodon(Platform):
    """Accounts on any server with Mastodon's API.

    Publishing goes `start`, then for media `upload` (one file a step) and `process` (the server's own work), then
    `create`. Its state is {key, after, media, pending, looks}: the Idempotency-Key of the round, the account's newest
    status before it, the ids of the uploads, those still processed, and how often they were looked at.
    A grant's credentials hold the token, which never runs out; its tokens are {instance, account, limits}.
    """

    name = "mastodon"
    label = "Mastodon"
    capabilities = CAPABILITIES
    methods = ("credentials",)
    credentials_schema = CREDENTIALS_SCHEMA
    irreversible = frozenset({"create"})

    def unavailable_reason(self, method: str) -> str | None:
        """None: tokens are made by the accounts' owners at their servers."""
        return None

    def connect(self, credentials: Mapping[str, Any]) -> Connection:
        """Ask the instance whose token it is. Raises CredentialsRejected, Transient."""
        token = credentials["access_token"].strip()
        if not _TOKEN.fullmatch(token):
            raise CredentialsRejected("The access token holds characters that no token has.")
        server = Server(instance.address(credentials["instance"]), token)
        try:
            identity = account.identity(server)
            own_id = identity.external_id.partition("@")[0]
            lookup.newest_status(Server(server.address, token, own_id))  # refused where read:statuses is missing
        except DestinationRefused as error:
            raise CredentialsRejected(f"The service does not connect to this instance: {error}") from error
        except UnreadableAnswer as error:
            raise CredentialsRejected("What answers at this address is no server with Mastodon's API.") from error
        except OutboundError as error:
            raise platform_error(error) from error
        except MastodonError as error:
            raise _refused_token(error) from error
        tokens = {"instance": server.address, "account": own_id, "limits": instance.limits(server)}
        grant = Grant({**credentials, "access_token": token}, tokens, identity.external_id)
        return Connection(identity=identity, grant=grant)

    def identify(self, grant: Grant) -> Identity:
        """Ask the server whose token it is. Raises AccountDisconnected, Transient."""
        with platform_errors():
            identity = account.identity(Server.of(grant))
        if identity.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another account than the one that was connected.")
        return identity

    def refresh(self, grant: Grant) -> Grant:
        """Raises AccountDisconnected: the token that the owner pasted is the only one."""
        raise AccountDisconnected("The account's server no longer accepts the access token.")

    def revoke(self, grant: Grant) -> None:
        """Nothing: a token can be revoked only by the application that it was made for, which is the owner's."""

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
            instance.check(content, grant.tokens["limits"])
            return statuses.begin(server, content)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Published | None:
        """Look among the account's statuses since the round began. Raises as the base's, but never TokenExpired."""
        with platform_errors():
            status = lookup.find(Server.of(grant), content, progress.state)
            return statuses.published(status) if status is not None else None


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
        suggested_action=f"Connect with an account's token that has the scopes {', '.join(SCOPES)}.",
    )
