"""What is tried against a connection by OAuth: forged, replayed and foreign states and codes attach nothing.

Sources of the cases: RFC 9700 (4.2 to 4.7), OWASP ASVS 10.1.2 and 10.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.models import ConnectedAccount
from tests import factories
from tests.accounts.oauth_calls import Granted, begin, complete, granted
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.oauth_platform import EXCHANGE, FakeOAuthPlatform
from tests.people import as_user
from workspaces.models import User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@dataclass
class Scene:
    """A connection that the workspace's key began and its owner granted, and everybody who may try something with it."""

    api: ApiClient
    workspace: Workspace
    stranger: User
    provider: FakeOAuthPlatform
    brought: Granted

    @property
    def foreign_key(self) -> ApiClient:
        return ApiClient(factories.workspace_key(self.stranger.owned_workspaces.get()))


@pytest.fixture
def scene(api: ApiClient, workspace: Workspace, stranger: User, provider: FakeOAuthPlatform) -> Scene:
    return Scene(api, workspace, stranger, provider, granted(api, workspace, provider))


# Who else may come with the very state and code that were granted. None of it costs the one who began anything.
OTHERS: dict[str, Callable[[Scene], ApiClient]] = {
    "another key of the workspace": lambda scene: ApiClient(factories.workspace_key(scene.workspace)),
    "an agent of the workspace": lambda scene: ApiClient(
        factories.agent_key(factories.AgentFactory(workspace=scene.workspace))
    ),
    "the workspace's own owner": lambda scene: as_user(scene.workspace.owner_user),
    "a key of another workspace": lambda scene: scene.foreign_key,
    "the owner of another workspace": lambda scene: as_user(scene.stranger),
}
# States that were never given, with a code that is good.
FORGERIES: dict[str, Callable[[str], str]] = {
    "tampered": lambda state: ("B" if state[0] == "A" else "A") + state[1:],
    "cut": lambda state: state[:-1],
    "padded": lambda state: state + " ",
    "another case": lambda state: state.swapcase(),
    "the digest that is stored": lambda state: hashlib.sha256(state.encode()).hexdigest(),
    "a wildcard": lambda state: "%",
}


@pytest.mark.parametrize("dry_run", ["true", "false"])
@pytest.mark.parametrize("who", OTHERS)
def test_nobody_but_the_initiator_completes_a_connection(scene: Scene, who: str, dry_run: str) -> None:
    answer = complete(OTHERS[who](scene), scene.brought, dry_run=dry_run)

    assert_envelope(answer, 422, "OAUTH_STATE_INVALID")
    assert_untouched(scene)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_state_completes_nothing(scene: Scene, forgery: str) -> None:
    forged = Granted(FORGERIES[forgery](scene.brought.state), scene.brought.code)

    assert_envelope(complete(scene.api, forged), 422, "OAUTH_STATE_INVALID")
    assert_untouched(scene)


@pytest.mark.parametrize("missing", ["state", "code"])
def test_a_missing_state_or_code_completes_nothing(scene: Scene, missing: str) -> None:
    query = scene.brought.query().split("&")[missing == "state"]

    assert_envelope(scene.api.get(f"/accounts/oauth/callback?{query}"), 422, "VALIDATION_FAILED")
    assert_untouched(scene)


def test_a_replayed_state_completes_nothing(scene: Scene) -> None:
    first = complete(scene.api, scene.brought).json()["account"]
    ConnectedAccount.objects.update(status="needs_reauth")

    for brought in (scene.brought, Granted(scene.brought.state, "another-code")):
        for dry_run in ("true", "false"):
            assert_envelope(complete(scene.api, brought, dry_run=dry_run), 422, "OAUTH_STATE_INVALID")
    assert scene.provider.requests_to(EXCHANGE) == 1
    assert list(ConnectedAccount.objects.values_list("pk", "status")) == [(first["id"], "needs_reauth")]


def test_an_expired_state_completes_nothing(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        early, late = (granted(api, workspace, provider) for _ in range(2))
        clock.shift(timedelta(minutes=9, seconds=59))
        assert complete(api, early).status_code == 200
        ConnectedAccount.objects.all().delete()
        clock.shift(timedelta(seconds=1))
        for dry_run in ("true", "false"):
            assert_envelope(complete(api, late, dry_run=dry_run), 422, "OAUTH_STATE_INVALID")

    assert provider.requests_to(EXCHANGE) == 1
    assert not ConnectedAccount.objects.exists()


def test_the_code_of_another_connection_is_refused(scene: Scene) -> None:
    """An injected code: the platform holds it against the verifier of the connection that it was granted for."""
    other = granted(scene.api, scene.workspace, scene.provider)

    answer = complete(scene.api, Granted(other.state, scene.brought.code))

    assert_envelope(answer, 422, "CREDENTIALS_REJECTED")
    assert not ConnectedAccount.objects.exists()


def test_a_used_code_is_refused(scene: Scene) -> None:
    complete(scene.api, scene.brought)
    ConnectedAccount.objects.all().delete()
    other = begin(scene.api, scene.workspace).json()["state"]

    assert_envelope(complete(scene.api, Granted(other, scene.brought.code)), 422, "CREDENTIALS_REJECTED")
    assert not ConnectedAccount.objects.exists()


def test_a_code_is_sent_only_to_the_platform_of_its_state(scene: Scene) -> None:
    """A mix-up: an honest platform's code comes back with the state of another one."""
    with FakeMastodon() as mastodon:
        mastodon.add_account("alice")
        begun = begin(scene.api, scene.workspace, platform="mastodon", credentials={"instance": mastodon.url}).json()
        code = mastodon.grant(begun["authorization_url"], "alice")
        asked = len(mastodon.requests)

        answer = complete(scene.api, Granted(scene.brought.state, code))

        assert_envelope(answer, 422, "CREDENTIALS_REJECTED")
        assert len(mastodon.requests) == asked
    assert not ConnectedAccount.objects.exists()


def test_a_paused_workspace_completes_nothing_until_it_is_resumed(scene: Scene) -> None:
    Workspace.objects.update(status="paused")
    assert_envelope(complete(scene.api, scene.brought), 403, "WORKSPACE_PAUSED")
    Workspace.objects.update(status="active")
    assert_untouched(scene)


def test_a_caller_who_lost_the_permission_completes_nothing(
    scene: Scene, workspace: Workspace, teammate: User, provider: FakeOAuthPlatform
) -> None:
    membership = teammate.memberships.get()
    membership.role = "admin"
    membership.save()
    brought = granted(as_user(teammate), workspace, provider)

    membership.role = "member"
    membership.save()
    assert_envelope(complete(as_user(teammate), brought), 403, "FORBIDDEN")
    membership.delete()
    assert_envelope(complete(as_user(teammate), brought), 404, "NOT_FOUND")
    assert_untouched(scene)


def assert_untouched(scene: Scene) -> None:
    """Assert that nothing was attached or requested, and that the initiator can still complete."""
    assert not ConnectedAccount.objects.exists()
    assert not scene.provider.requests
    assert complete(scene.api, scene.brought).json()["account"]["handle"] == "alice"
