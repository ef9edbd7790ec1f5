"""What each role may do: every operation that changes something, called by an admin, an editor and a viewer."""

from __future__ import annotations

import pytest

from tests import factories
from tests.accounts.conftest import pds, provider
from tests.billing.conftest import processor
from tests.contract.plan_calls import PlannedCall
from tests.contract.test_plan_hash import ROWS, call, stored_rows
from tests.people import as_user
from tests.posts.conftest import clock
from workspaces.models import Member, Workspace

__all__ = ["call", "clock", "pds", "processor", "provider"]  # fixtures

OPERATIONS = [name for name, row in ROWS.items() if not row.operator]
# Calls about the caller's own user, or that only their beginner may finish.
OF_OTHERS = {"users.delete", "workspaces.create", "accounts.complete_connection"}
BY_THE_OWNER = {"workspaces.delete", "workspaces.rotate_signing_secret"}
BY_ADMINS = {
    *("accounts.connect", "accounts.disconnect", "accounts.update_slots"),
    *("agents.create", "agents.revoke", "agents.rotate_key", "agents.update", "api_keys.create", "api_keys.revoke"),
    *("billing.create_checkout_session", "billing.create_portal_session", "calendar_feeds.delete"),
    *("posts.confirm", "posts.reject", "workspaces.update_caps"),
    "series.update",  # of a series of somebody else
}
BY_EDITORS = {
    *("media.delete", "media.upload", "plans.commit", "webhooks.replay"),
    *("posts.cancel", "posts.create", "posts.create_batch", "posts.resolve", "posts.retry", "posts.retry_missed"),
    *("posts.update", "posts.update_queue"),
    *("series.create", "series.delete", "series.skip"),
}
BY_EVERY_MEMBER = {"calendar_feeds.create"}  # a secret address for oneself, of what one may read anyway
ALLOWED = {
    "admin": BY_ADMINS | BY_EDITORS | BY_EVERY_MEMBER,
    "editor": BY_EDITORS | BY_EVERY_MEMBER,
    "member": BY_EVERY_MEMBER,
}
NAMES_ITS_WORKSPACE = {
    *("posts.create", "posts.create_batch", "posts.retry_missed", "posts.update_queue", "media.upload", "series.create")
}
NOT_FOUND = {"users.delete": 404, "accounts.complete_connection": 422, "plans.commit": 404}  # of others, as if not there


def test_every_operation_has_its_place() -> None:
    places = (OF_OTHERS, BY_THE_OWNER, BY_ADMINS, BY_EDITORS, BY_EVERY_MEMBER)
    assert sorted(name for place in places for name in place) == sorted(OPERATIONS)


@pytest.mark.parametrize("role", ALLOWED)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_role_may_do_this_or_is_refused_and_nothing_changes(
    name: str, role: str, workspace: Workspace, call: PlannedCall
) -> None:
    person = factories.UserFactory()
    Member.objects.create(workspace=workspace, user=person, role=role)
    call.client = as_user(person)
    if name in NAMES_ITS_WORKSPACE:
        call.body = {**(call.body or {}), "workspace_id": workspace.id}
    before = stored_rows()

    for dry_run in (True, False):
        answer = call.send(dry_run=dry_run)
        if name in ALLOWED[role]:
            assert answer.status_code in ((200, 201) if dry_run else (ROWS[name].success,)), answer.content
        else:
            assert answer.status_code == NOT_FOUND.get(name, 403), answer.content
            assert stored_rows() == before
