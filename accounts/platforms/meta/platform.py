"""The base classes of the platforms that belong to Meta: of their adapters and of the clients of their OAuth endpoints.

A code is exchanged for a short-lived token, that for a long-lived token, and the long-lived token is renewed. There is no
PKCE, no refresh token and no revocation. Sources: developers.facebook.com, facebook-login/guides/advanced/manual-flow,
instagram-platform/reference/oauth-authorize, threads/get-started.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from accounts.platforms.errors import ConnectionUnavailable, RateLimited, ReauthRequired, TokenExpired, Transient
from accounts.platforms.http.oauth import PlatformOAuthClient, granted_scopes, wrong_code_error
from accounts.platforms.http.oauth_platform import OAuthPlatform
from accounts.platforms.http.responses import UnreadableAnswer
from accounts.platforms.meta.errors import GraphError, MetaErrorTranslator
from accounts.platforms.meta.graph import VERSION, Graph, GraphClientAndAccountId, listed_objects, versioned_address
from accounts.platforms.types import Content, Grant, NotPublishedProof, Progress, Published
from config.outbound import OutboundError

HttpMethod = Literal["GET", "POST"]
PublishStep = Callable[[Any, Content, Progress], Progress | Published]
PublishedPostSearch = Callable[[Any, Content, Progress], Progress | Published | NotPublishedProof]


class MetaPlatform(OAuthPlatform):
    """The base class of the adapters of Meta's platforms, whose tokens are renewed without refresh tokens."""

    renewed_with = "access_token"
    revoked_tokens = ()

    api_base: ClassVar[str]  # the API's address without a version
    default_scopes: ClassVar[tuple[str, ...]]
    steps: ClassVar[Mapping[str, PublishStep]]  # the function of each phase
    searches: ClassVar[
        Mapping[str, PublishedPostSearch]
    ]  # the function that searches for the post, of each irreversible phase

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        """Run the step of publishing at a Meta platform that `progress.phase` names, such as an upload."""
        return self.steps[progress.phase](self.account_client(grant), content, progress)

    def find_or_rule_out_published_post(
        self, grant: Grant, content: Content, progress: Progress
    ) -> Progress | Published | NotPublishedProof:
        """Search the Meta platform for the post that an interrupted attempt may have published."""
        return self.searches[progress.phase](self.account_client(grant), content, progress)

    def account_client(self, grant: Grant) -> GraphClientAndAccountId:
        """Return the Graph API client for calls about a connected account of a Meta platform."""
        return GraphClientAndAccountId(self.graph_client(grant.tokens), grant.external_id)

    def graph_client(self, tokens: Mapping[str, Any]) -> Graph:
        """Return a Graph API client of the Meta platform that uses an account's access token."""
        return Graph(self.graph_api_url(), tokens["access_token"])

    def graph_api_url(self) -> str:
        """Return the Graph API URL that a Meta platform's adapter uses: its setting or default, with the version."""
        return versioned_address(self.platform_setting("API_BASE", self.api_base), self.api_version())

    def api_version(self) -> str:
        """Return the version of the Graph API that the Meta platform's adapter calls."""
        return self.platform_setting("API_VERSION", VERSION)

    def scopes_to_request(self) -> tuple[str, ...]:
        """Return the OAuth scopes to request at the Meta platform: the operator's, or else the default ones."""
        return granted_scopes({"scope": self.platform_setting("SCOPES")}) or self.default_scopes


@dataclass(frozen=True)
class MetaOAuthClient(PlatformOAuthClient):
    """The client of a Meta platform's OAuth endpoints, with the operator's app; the API at `api` renews tokens."""

    api: str = ""

    scope_separator = ","
    errors: ClassVar[MetaErrorTranslator]
    grant_prefix: ClassVar[str]  # prefix of the grant types, such as `th` of `th_exchange_token`
    needed_scopes: ClassVar[tuple[str, ...]] = ()

    @property
    def required_scopes(self) -> tuple[str, ...]:
        """The OAuth scopes without which the service cannot publish at the Meta platform."""
        return self.needed_scopes

    def exchange_code(self, code: str, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Exchange an OAuth code of a Meta platform for a token of sixty days. Returns the JSON, with granted scopes.

        Raises CredentialsRejected (the code, or a scope that was not granted), ConnectionUnavailable, Transient.
        """
        form = {"grant_type": "authorization_code", **self.code_exchange_params(code, redirect_uri)}
        short = self.exchange_for_token("POST", self.token_url, form)
        granted = _permissions(short)
        self.check_granted_scopes(granted)
        extension = {
            "grant_type": f"{self.grant_prefix}_exchange_token",
            "client_secret": self.client_secret,
            "access_token": short["access_token"],
        }
        return {**self.exchange_for_token("GET", f"{self.api}/access_token", extension), "scope": ",".join(granted)}

    def renew_tokens(self, token: str) -> dict[str, Any]:
        """Renew a Meta platform's long-lived token that is at least a day old. Returns the token endpoint's JSON.

        Raises ReauthRequired only if Meta says that the token has expired, otherwise Transient.
        """
        params = {"grant_type": f"{self.grant_prefix}_refresh_token", "access_token": token}
        try:
            with self.errors.translating_repeatable_call_errors():
                return _tokens("GET", f"{self.api}/refresh_access_token", params)
        except TokenExpired as error:
            raise ReauthRequired(error.message) from error
        except (ReauthRequired, ConnectionUnavailable) as error:
            raise Transient(f"{self.label} did not renew the access: {error.message}") from error

    def code_exchange_params(self, code: str, redirect_uri: str) -> dict[str, str]:
        """Return the form fields that exchange a Meta OAuth code for a token; removes the `#_` that Meta appends."""
        return {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "redirect_uri": redirect_uri,
            "code": code.removesuffix("#_"),
        }

    def exchange_for_token(self, method: HttpMethod, url: str, params: Mapping[str, str]) -> dict[str, Any]:
        """Request an access token from a Meta platform in exchange for an OAuth code or a short-lived token.

        Raises CredentialsRejected (the code or token), ConnectionUnavailable, Transient.
        """
        try:
            return _tokens(method, url, params)
        except (OutboundError, GraphError) as error:
            meaning = self.errors.translate_repeatable_call_error(error)
            refused = isinstance(error, GraphError) and not self.errors.request_may_have_taken_effect(error)
            if not refused or isinstance(meaning, RateLimited | ConnectionUnavailable):
                raise meaning from error
            raise wrong_code_error(self.label) from error


def _tokens(method: HttpMethod, url: str, params: Mapping[str, str]) -> dict[str, Any]:
    graph = Graph(url)
    answer = graph.get("", params) if method == "GET" else graph.post_form("", params)
    if isinstance(answer.get("data"), list):  # Instagram wraps the response to a code
        answer = next(iter(listed_objects(answer)), {})
    token = answer.get("access_token")
    if not isinstance(token, str) or not token:
        raise UnreadableAnswer("The response has no token.")
    return answer


def _permissions(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the OAuth scopes that a Meta platform says it has granted, in a list or separated by commas."""
    granted = answer.get("permissions")
    if isinstance(granted, str):
        granted = granted.split(",")
    return tuple(each.strip() for each in granted if isinstance(each, str)) if isinstance(granted, list) else ()
