"""Resources of another workspace get the same answer as resources that do not exist."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from config.db.ids import new_id
from posts.models import CalendarFeed, PostGroup, PostTarget, Series, StoredPlan
from tests import factories
from tests.conftest import ApiClient
from tests.contract.inputs import Ids, prefixes_in, send
from tests.contract.routes import Route, routes
from tests.webhooks.rows import make_delivery
from workspaces.models import Workspace

ROUTES = [route for route in routes() if prefixes_in(route) and not route.operation.access.operator]


@pytest.fixture
def foreign(db: None) -> Ids:
    """Create resources in another workspace; return their ids by prefix."""
    workspace = factories.WorkspaceFactory.create()
    agent = factories.AgentFactory.create(workspace=workspace)
    account = factories.AccountFactory.create(workspace=workspace)
    group = PostGroup.objects.create(workspace=workspace, status="draft", created_by_type="user", trace_id="0" * 32)
    target = PostTarget.objects.create(group=group, account=account, platform=account.platform, position=0)
    factories.workspace_key(workspace)
    return Ids(
        wrk=workspace.id,
        usr=workspace.owner_user_id,
        agt=agent.id,
        key=workspace.api_keys.get().id,
        acc=account.id,
        pgr=group.id,
        pln=StoredPlan.objects.create(
            workspace=workspace,
            operation="posts.cancel",
            preview={},
            content={},
            hash="",
            maker="",
            expires_at=timezone.now(),
        ).id,
        cal=CalendarFeed.objects.create(member=workspace.members.get(), token_sha256="0" * 64).id,
        ser=Series.objects.create(
            workspace=workspace,
            timezone="UTC",
            starts_at="2027-03-10T12:00",
            rrule="FREQ=DAILY",
            post={"text": "", "targets": []},
            cost_cents_each=0,
            maker="",
        ).id,
        tgt=target.id,
        med=factories.MediaAssetFactory.create(workspace=workspace).id,
        dlv=make_delivery(workspace, "https://receiver.example/hook").id,
    )


@pytest.fixture
def callers(workspace: Workspace) -> list[ApiClient]:
    """Return a key with every scope, an agent with every scope, and the owner."""
    agent = factories.AgentFactory.create(workspace=workspace)
    return [
        ApiClient(factories.workspace_key(workspace)),
        ApiClient(factories.agent_key(agent)),
        ApiClient(factories.user_token(workspace.owner_user)),
    ]


def reveals_nothing(status: int, text: str) -> bool:
    """Return whether the answer is a refusal or an empty list."""
    lists = [value for value in json.loads(text).values() if isinstance(value, list)]
    return status in (403, 404, 422) or (status, lists) == (200, [[]])


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_a_foreign_id_gets_the_same_answer_as_a_missing_one(callers: list[ApiClient], foreign: Ids, route: Route) -> None:
    absent = Ids({prefix: new_id(prefix) for prefix in foreign})
    for caller in callers:
        status, text = send(caller, route, foreign)

        assert (status, text) == send(caller, route, absent)
        assert reveals_nothing(status, text)


@pytest.mark.parametrize("route", [route for route in ROUTES if prefixes_in(route) > {"wrk"}], ids=str)
def test_a_foreign_id_with_the_callers_own_workspace_gets_the_same_answer_as_a_missing_one(
    workspace: Workspace, callers: list[ApiClient], foreign: Ids, route: Route
) -> None:
    absent = Ids({prefix: new_id(prefix) for prefix in foreign})
    for caller in callers:
        status, text = send(caller, route, Ids({**foreign, "wrk": workspace.id}))

        assert (status, text) == send(caller, route, Ids({**absent, "wrk": workspace.id}))
        assert reveals_nothing(status, text)
