"""What every platform is: a Capabilities value and a few verbs. Adding one: a module here and a line in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings

from accounts.platforms.errors import ConnectionUnavailable, OutcomeUnknown
from accounts.platforms.operator_setup import OperatorSetup
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

START = Progress("start")


class Platform:
    """One platform. An instance holds no state and may be used by many threads.

    Verbs raise the errors of accounts/platforms/errors.py and nothing else. The base refuses all of them, which is what a
    platform does whose capabilities are known here but which cannot be connected yet.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    setup: ClassVar[OperatorSetup]
    methods: ClassVar[tuple[str, ...]] = (
        "oauth",
    )  # oauth, credentials; the first is what is meant where none is named
    # Strings by name; `title` is what people read, `writeOnly` marks a secret.
    credentials_schema: ClassVar[Mapping[str, Any] | None] = None
    irreversible: ClassVar[frozenset[str]] = frozenset()  # the phases that publish
    settles_seconds: ClassVar[float] = 60.0  # how long a request that got no answer may still be carried out

    def unavailable_reason(self, method: str) -> str | None:
        """Why no account can be connected by this method at this moment; None when one can."""
        return f"Connecting {self.label} accounts is not offered by this service yet."

    @property
    def oauth_schema(self) -> Mapping[str, Any] | None:
        """What an owner has to say before granting (a server, a kind of account), in the form of `credentials_schema`. A
        property with a `default` need not be said."""
        return None

    def capabilities_for(self, account: AccountDetails) -> Capabilities:
        """What this account takes, by its server and by what its grant allows."""
        return self.capabilities

    def card_link(self, text: str, options: Mapping[str, Any], *, with_media: bool) -> str | None:
        """The page of which the service makes a link card for such a post; None for a post without one."""
        return None

    def connect(self, credentials: Mapping[str, Any]) -> Connection:
        """Check what the owner gave, by asking the platform. Raises CredentialsRejected, Transient."""
        raise ConnectionUnavailable(self.unavailable_reason("credentials") or "This platform takes no credentials.")

    def authorize(self, *, state: str, redirect_uri: str, given: Mapping[str, Any]) -> Authorization:
        """Where the owner grants access; `given` fits `oauth_schema`. Raises CredentialsRejected (given), Transient."""
        raise ConnectionUnavailable(self.unavailable_reason("oauth") or "This platform knows no OAuth.")

    def exchange(self, *, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> tuple[Connection, ...]:
        """Every account that the grant opens: pages, boards or channels; the owner picks where there are several.

        Raises CredentialsRejected (a code that is used, too old or another's, or a scope that was not granted), Transient.
        """
        raise ConnectionUnavailable(self.unavailable_reason("oauth") or "This platform knows no OAuth.")

    def identify(self, grant: Grant) -> Identity:
        """Ask the platform whose account the grant opens. Raises TokenExpired, AccountDisconnected, Transient."""
        raise ConnectionUnavailable(self.unavailable_reason(self.methods[0]) or "This platform cannot be asked.")

    def refresh(self, grant: Grant) -> Grant:
        """A grant with new tokens. Raises AccountDisconnected when a person has to reconnect, Transient otherwise."""
        raise ConnectionUnavailable(
            self.unavailable_reason(self.methods[0]) or "This platform issues no tokens to refresh."
        )

    def revoke(self, grant: Grant) -> None:
        """End the grant at the platform, where it can be ended; faults are Transient."""

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take one step: `progress.phase` names it (the first is `start`). Steps may be repeated unless irreversible.

        Raises ContentRejected, TokenExpired, AccountDisconnected, Transient (nothing was done), OutcomeUnknown.
        """
        raise ConnectionUnavailable(self.unavailable_reason(self.methods[0]) or "This platform cannot be published to.")

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Look whether an earlier try of the irreversible step `progress.phase` has published; `verifiable` platforms.

        What the step would have answered, when it has: the step that follows may be another one (a thread goes on).
        Absent: it is certainly not there, with the proof, so the step may be repeated. Raises OutcomeUnknown when neither
        is certain, TokenExpired, AccountDisconnected, Transient (look again later).
        """
        raise OutcomeUnknown("This platform cannot be asked whether the post is out.", final=True)

    def setting(self, key: str, default: str = "") -> str:
        """The operator's setting for this platform: `<PLATFORM>_<key>`, such as `BLUESKY_API_BASE`."""
        return settings.PLATFORM_SETTINGS.get(f"{self.name.upper()}_{key}", default)
