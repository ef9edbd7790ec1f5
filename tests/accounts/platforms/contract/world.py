"""What the tests that all platforms share need to know of each: its world, a stand-in with one account.

It stands in the platform's own folder of tests, `tests/accounts/platforms/<name>/world.py`, as the class `PlatformWorld`.
Where other software speaks the same API in its own way, `OTHER_SOFTWARE` there holds the worlds of such servers by its name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal
from urllib.parse import urlencode

from django.conf import settings as project
from django.urls import reverse

from accounts.models import ConnectedAccount
from accounts.platforms.errors import ContentRejected, CredentialsRejected, PlatformError, ReauthRequired, TokenExpired
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import AuthorizedAccount, Grant
from tests.conftest import ApiClient
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer
from tests.media.files.fetching import fetch

IGNORED: Mapping[str, type[PlatformError] | None] = {"any": None}
"""A call without which everything goes on."""
REJECTED: Mapping[str, type[PlatformError] | None] = {"refused": CredentialsRejected}
"""A call of which every refusal means that what the owner gave is wrong."""
REJECTED_IF_UNREADABLE = {**REJECTED, "unreadable": CredentialsRejected}
"""The same for a call whose answer shows whether the owner gave the right address."""


@dataclass(frozen=True)
class Post:
    """A post that really stands at the platform: its text, the bytes and alt texts of its files in order, and the choices of
    its poll."""

    text: str
    files: tuple[tuple[bytes, str | None], ...] = ()
    choices: tuple[str, ...] = ()


class World:
    """`server` is the stand-in, not yet running. Calls are named as the stand-in names them."""

    name: ClassVar[str]
    method: ClassVar[Literal["oauth", "credentials"]] = "oauth"
    takes_no: ClassVar[tuple[str, ...]] = ()  # kinds of posts that this server refuses and the platform takes
    plain: ClassVar[str] = ""  # the kind of the plainest post, where it is another one than text or an image
    create: ClassVar[str]  # the call that makes such a post
    renew: ClassVar[str] = ""  # the call that renews tokens; none where they are not renewed
    renewable_after: ClassVar[timedelta] = timedelta(0)  # how old a token has to be for that
    lives: ClassVar[timedelta | None] = None  # how long an access token is good, where a stale one can be renewed
    options: Mapping[str, Any] = {}  # what a target has to say
    shows_alt_texts: ClassVar[Literal["all", "first", "none"]] = "all"
    finds: ClassVar[bool] = False  # what a try has made that got no answer is found, or a repetition does no harm
    finds_no: ClassVar[tuple[str, ...]] = ()  # kinds of posts of which that does not hold
    proves_absence: ClassVar[bool] = False  # such a try is sent again once it is certain that it has made nothing
    pause: ClassVar[int] = 300  # seconds that haste costs: such as a test asks for, or the platform's own
    says_when: ClassVar[bool] = True  # a limit names the seconds that it lasts
    too_large: ClassVar[type[PlatformError]] = ContentRejected  # what the status 413 means at the call that makes the post
    ends_access: ClassVar[bool] = True  # disconnecting ends the access at the platform
    ending: ClassVar[tuple[str, ...]] = ()  # OAuth errors that end a grant, beside invalid_grant
    rotates: ClassVar[bool] = False  # a refresh token is good for one renewal
    client: ClassVar[tuple[str, str]] = ("", "")  # id and secret of the operator's app
    refused_code: ClassVar[type[PlatformError]] = CredentialsRejected  # what a code that is used or guessed means
    owner: ClassVar[tuple[str, ...]] = ("alice",)  # who grants access, as the stand-in names the person
    optional_scopes: ClassVar[tuple[str, ...]] = ()  # scopes without which an account is connected all the same
    fixed_scopes: ClassVar[bool] = False  # owners cannot grant less than they are asked for
    shown: ClassVar[tuple[str, str, str]]  # handle, display name and profile address; by {id}, {url} and {host}
    unauthorized: ClassVar[type[PlatformError]] = TokenExpired  # what the status 401 means, whatever the body is
    pause_of_30: ClassVar[float | None] = 30.0  # what `Retry-After: 30` of the API asks for
    trusted: ClassVar[tuple[str, ...]] = ()  # calls whose answers are not altered at a connection
    # Errors that differ from those of `broken_calls.expected`, by act and call: by the fault, its group, or "any". None
    # stands for no error at all.
    unusual: Mapping[tuple[str, str], Mapping[str, type[PlatformError] | None]] = {}
    server: FaultyServer

    def __init__(self) -> None:
        self.served: dict[str, bytes] = {}
        self.uploaded: dict[str, list[str]] = {}  # ids of media assets, by the kind of post that they are for

    @property
    def api_base(self) -> str:
        return self.server.url

    def settings(self) -> dict[str, str]:
        """The operator's settings, which point at the stand-in."""
        named = {"API_BASE": self.api_base, "AUTH_BASE": self.server.url}
        if self.client[0]:
            named |= {"CLIENT_ID": self.client[0], "CLIENT_SECRET": self.client[1]}
        return {f"{self.name.upper()}_{key}": value for key, value in named.items()}

    def credentials(self) -> dict[str, str]:
        """What the owner gives, where the account is connected by credentials."""
        raise NotImplementedError

    def given(self) -> dict[str, str]:
        """What the owner gives before granting, where the platform asks for something."""
        return {}

    def grant(self, authorization_url: str, scopes: Sequence[str] | None = None) -> str:
        """The code that comes back when the owner agrees to what is asked for, or to these scopes only."""
        server: Any = self.server
        return str(server.grant(authorization_url, *self.owner, *([] if scopes is None else [scopes])))

    def posts(self) -> list[Post]:
        """What the account has really posted, in order."""
        raise NotImplementedError

    def add_person(self, name: str) -> str:
        """Let somebody with a name of one word join the platform; returns how a post mentions this person."""
        raise NotImplementedError

    def limit(self, seconds: int) -> Answer:
        """How the platform answers haste."""
        raise NotImplementedError

    def rejection(self) -> Answer:
        """How the platform refuses the content of a post."""
        raise NotImplementedError

    def odd(self) -> Answer:
        """A refusal that no table of the adapter's knows, whose words are Hello."""
        raise NotImplementedError

    def stop_listing(self) -> None:
        """No list of the platform's holds what the account posts from now on, as for kinds of posts that it leaves out;
        nothing to do where no list is read."""

    def withdraw(self) -> None:
        """The account's owner takes the access away."""
        raise NotImplementedError

    def expire(self, clock: Any) -> None:
        """Let the access token go stale, as it does by itself."""
        assert self.lives is not None
        clock.shift(self.lives)

    def is_open(self, grant: Grant) -> bool:
        """Whether the access that was given is still good at the platform."""
        try:
            get_adapter(self.name).check_and_identify(grant)
        except (TokenExpired, ReauthRequired):
            return False
        return True

    def serve(self, content: bytes, filename: str) -> str:
        """A public address of these bytes, for a post that does not come from the API."""
        address = f"{project.BASE_URL}/files/{len(self.served)}/{filename}"
        self.served[address] = content
        return address

    def fetched(self, address: str) -> bytes:
        """What stands at the address that a platform was given to fetch from."""
        return self.served[address] if address in self.served else bytes(fetch(address).body)

    def connect(self, api: ApiClient, workspace_id: str) -> ConnectedAccount:
        """The account, connected over the API; of several that a login opens, the first."""
        body = {"workspace_id": workspace_id, "platform": self.name, "method": self.method}
        if self.method == "credentials":
            answer = api.post("/accounts/connect", {**body, "credentials": self.credentials()})
        else:
            given = {"credentials": self.given()} if self.given() else {}
            begun = api.post("/accounts/connect", {**body, **given}).json()
            brought = {"state": begun["state"], "code": self.grant(begun["authorization_url"])}
            answer = api.get(f"/accounts/oauth/callback?{urlencode(brought)}")
            if choices := answer.json().get("choices"):
                choice = {"choice": choices[0]["external_id"]}
                answer = api.get(f"/accounts/oauth/callback?{urlencode({**brought, **choice})}")
        assert answer.status_code == 200, answer.content
        return ConnectedAccount.objects.get(pk=answer.json()["account"]["id"])

    def connection(self) -> AuthorizedAccount:
        """The account, connected by the adapter alone."""
        adapter = get_adapter(self.name)
        if self.method == "credentials":
            return adapter.connect_with_credentials(self.credentials())
        authorization = adapter.begin_oauth(state="state-1", redirect_uri=redirect_uri(), given=self.given())
        stored = json.loads(json.dumps(dict(authorization.stored)))
        code = self.grant(authorization.url)
        return adapter.exchange_code_for_accounts(code=code, redirect_uri=redirect_uri(), stored=stored)[0]


def redirect_uri() -> str:
    """Where platforms send the browser back to, which stand-ins have to know."""
    return f"{project.BASE_URL}{reverse('connect-callback')}"
