"""Instagram: professional accounts, connected by Instagram Login; posts whose containers say whether they are out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.platforms.base import Platform
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected
from accounts.platforms.instagram import containers, posts
from accounts.platforms.instagram.account import PRODUCT, SITE, Account, identity
from accounts.platforms.instagram.capabilities import CAPABILITIES, SCOPES
from accounts.platforms.instagram.login import Application
from accounts.platforms.instagram.setup import SETUP
from accounts.platforms.meta.graph import VERSION, versioned
from accounts.platforms.types import Absent, Authorization, Connection, Content, Grant, Identity, Progress, Published

TOKENS = "https://api.instagram.com"  # where codes are exchanged


class Instagram(Platform):
    """Instagram professional accounts.

    Publishing goes `start`, `container` for each file, `process` while Instagram fetches them, for a carousel `gather`
    and `process` again; `create`, which publishes; and `comment` where a first comment is asked for. Its state is {since,
    round, children, looks}: when the round of containers began and which it is, the containers of a carousel's files, how
    often they were looked at; {container, pending} once there is one to publish, and {out} once the post stands.
    A grant's tokens are {access_token}; its external_id is the account's id for publishing. Instagram knows no call that
    ends a grant.
    """

    name = "instagram"
    label = "Instagram"
    capabilities = CAPABILITIES
    setup = SETUP
    irreversible = frozenset({"create", "comment"})
    settles_seconds = 180.0  # longer than a request lives that nobody waits for any more

    def unavailable_reason(self, method: str) -> str | None:
        """What the operator has not set; None when accounts can be connected."""
        missing = [f"INSTAGRAM_{key}" for key in ("CLIENT_ID", "CLIENT_SECRET") if not self.setting(key)]
        return f"The operator of this service has not set {' and '.join(missing)}." if missing else None

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Instagram's page of consent."""
        return self._application().authorize(state, redirect_uri)

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """The one account that the grant opens. Raises CredentialsRejected, ConnectionUnavailable, Transient."""
        return (self._application().connection(code, redirect_uri),)

    def identify(self, grant: Grant) -> Identity:
        """Ask Instagram whose token it is. Raises TokenExpired, AccountDisconnected, ConnectionUnavailable, Transient."""
        try:
            with PRODUCT.faults():
                known = identity(self._account(grant).graph)
        except CredentialsRejected as error:
            raise AccountDisconnected(error.message, suggested_action=error.suggested_action) from error
        if known.external_id != grant.external_id:
            raise AccountDisconnected("The token opens another account than the one that was connected.")
        return known

    def refresh(self, grant: Grant) -> Grant:
        """A token of sixty days more. Raises AccountDisconnected, Transient."""
        return self._application().renewed(grant)

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step that `progress` names."""
        if progress.phase == "start":
            return containers.begin(content)
        return STEPS[progress.phase](self._account(grant), content, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Ask the container whether it is out; look for the comment below the post."""
        find = posts.find_comment if progress.phase == "comment" else posts.find
        return find(self._account(grant), content, progress.state)

    def _account(self, grant: Grant) -> Account:
        return Account.of(grant, self._api())

    def _application(self) -> Application:
        """A stand-in of the page of consent exchanges codes as well."""
        site, tokens = (self.setting("AUTH_BASE", default).rstrip("/") for default in (SITE, TOKENS))
        scopes = tuple(self.setting("SCOPES", SCOPES).replace(",", " ").split())
        return Application(self.setting("CLIENT_ID"), self.setting("CLIENT_SECRET"), self._api(), site, tokens, scopes)

    def _api(self) -> str:
        return versioned(self.setting("API_BASE", "https://graph.instagram.com"), self.setting("API_VERSION", VERSION))


STEPS = {
    "container": containers.make,
    "process": containers.process,
    "gather": containers.gather,
    "create": posts.create,
    "comment": posts.comment,
}
