"""An account from its connection to its end."""

from __future__ import annotations

from accounts.models import ConnectedAccount
from tests.accounts.platforms.contract.world import World
from tests.conftest import ApiClient
from workspaces.models import Workspace

SECRET = ("token", "secret", "password", "access", "refresh", "webhook_url")


def secrets_of(account: ConnectedAccount) -> list[str]:
    """What opens the account: tokens, passwords, secrets of applications, addresses that hold one."""
    grant = account.decrypted_grant()
    named = {**grant.credentials, **grant.tokens}
    return [value for name, value in named.items() if isinstance(value, str) and any(word in name for word in SECRET)]


def test_an_account_is_connected_known_again_and_disconnected(api: ApiClient, world: World, workspace: Workspace) -> None:
    account = world.connect(api, workspace.id)
    asked = api.get(f"/accounts/{account.id}/status")
    body = asked.json()["account"]
    assert (body["status"], body["platform"], body["method"]) == ("active", world.name, world.method)
    assert (body["external_id"], body["handle"]) == (account.external_id, account.handle)
    assert body["handle"]
    assert secrets_of(account)
    assert not [secret for secret in secrets_of(account) if secret.rpartition("/")[2] in asked.content.decode()]

    # Connected once more, it is the same account.
    assert world.connect(api, workspace.id).id == account.id

    # A platform that is away costs no account its access.
    for call in world.server.calls:
        world.server.fail_next(call)
    assert api.get(f"/accounts/{account.id}/status").status_code == 502
    world.server.forget_faults()
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "active"

    # Disconnecting ends the access where that can be done, and forgets it everywhere.
    account.refresh_from_db()
    grant = account.decrypted_grant()
    assert world.is_open(grant)
    assert api.delete(f"/accounts/{account.id}").json()["account"]["status"] == "disconnected"
    assert world.is_open(grant) is not world.ends_access
    stored = ConnectedAccount.objects.get()
    assert (stored.tokens, stored.credentials) == (None, None)
