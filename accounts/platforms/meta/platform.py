"""The base class of the platforms that are Meta's products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from accounts.platforms.http.oauth import scopes_of
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.meta.graph import VERSION, Account, Graph, versioned
from accounts.platforms.types import Absent, Content, Grant, Progress, Published

Step = Callable[[Any, Content, Mapping[str, Any]], Progress | Published]
Search = Callable[[Any, Content, Mapping[str, Any]], Progress | Published | Absent]


class MetaPlatform(OAuthPlatform):
    """Base class for Meta's products, whose access tokens are renewed without refresh tokens and cannot be revoked."""

    renewed_with = "access_token"
    revoked_tokens = ()

    api_base: ClassVar[str]  # the API's address without a version
    default_scopes: ClassVar[tuple[str, ...]]
    steps: ClassVar[Mapping[str, Step]]  # the function of each phase
    searches: ClassVar[Mapping[str, Search]]  # the function that searches for the post, of each irreversible phase

    def publish(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Take the step of publishing at Meta's product that `progress` names."""
        return self.steps[progress.phase](self.account(grant), content, progress.state)

    def find(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
        """Search Meta's product for the post that an earlier attempt of an irreversible step has published."""
        return self.searches[progress.phase](self.account(grant), content, progress.state)

    def account(self, grant: Grant) -> Account:
        """The account at Meta's product that a grant gives access to."""
        return Account(self.graph(grant.tokens), grant.external_id)

    def graph(self, tokens: Mapping[str, Any]) -> Graph:
        """A client of Meta's Graph API with an account's token."""
        return Graph(self.api(), tokens["access_token"])

    def api(self) -> str:
        """The address of Meta's Graph API with its version."""
        return versioned(self.setting("API_BASE", self.api_base), self.version())

    def version(self) -> str:
        """The version of Meta's Graph API that is called."""
        return self.setting("API_VERSION", VERSION)

    def scopes(self) -> tuple[str, ...]:
        """The scopes to request at Meta's product, which the operator may change."""
        return scopes_of({"scope": self.setting("SCOPES")}) or self.default_scopes
