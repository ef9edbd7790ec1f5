"""Callers reach nothing of others by the tools: foreign and absent ids are answered alike, and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup, StoredPlan
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import call, planned, refusal, use
from tests.posts.rows import TOMORROW, create
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
ABSENT = "01jd0000000000000000000000"


@pytest.fixture
def other_workspace(stranger: User) -> Workspace:
    return Workspace.objects.get(owner_user=stranger)


def without_trace(envelope: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in envelope.items() if name != "trace_id"}


def test_a_stranger_reaches_nothing(
    api: ApiClient, account: ConnectedAccount, other_workspace: Workspace, stranger: User, clock: Any
) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    plan_id = planned(api.token, account.id)
    asset = factories.MediaAssetFactory(workspace=account.workspace)
    own_account = factories.AccountFactory(workspace=other_workspace)
    before = StoredPlan.objects.count(), PostGroup.objects.get().content_version

    for token in (factories.workspace_key(other_workspace), factories.user_token(stranger)):

        def same(tool: str, foreign: dict[str, Any], absent: dict[str, Any], token: str = token) -> None:
            assert without_trace(refusal(token, tool, **foreign)) == without_trace(refusal(token, tool, **absent))

        same("get_post", {"post_group_id": group["id"]}, {"post_group_id": f"pgr_{ABSENT}"})
        for change in ("cancel", "retry"):
            same(
                "plan_change",
                {"post_group_id": group["id"], "change": change},
                {"post_group_id": f"pgr_{ABSENT}", "change": change},
            )
        same("commit_plan", {"plan_id": plan_id}, {"plan_id": f"pln_{ABSENT}"})
        post = {"text": "a"}
        same("plan_post", {**post, "targets": [account.id]}, {**post, "targets": [f"acc_{ABSENT}"]})
        with_media = {**post, "targets": [own_account.id]}
        same(
            "plan_post",
            {**with_media, "media": [{"media_id": asset.id}]},
            {**with_media, "media": [{"media_id": f"med_{ABSENT}"}]},
        )
        assert use(token, "find_posts")["posts"] == []
        assert [row["account_id"] for row in use(token, "context")["accounts"]] == [own_account.id]

    assert (StoredPlan.objects.count(), PostGroup.objects.get().content_version) == before


def test_a_plan_is_its_makers(
    agent_client: Any, api: ApiClient, account: ConnectedAccount, teammate: User, clock: Any
) -> None:
    maker, colleague = agent_client(default_mode="requires_confirmation"), agent_client()
    plan_id = planned(maker.token, account.id)

    for token in (colleague.token, api.token, factories.user_token(teammate)):
        assert refusal(token, "commit_plan", plan_id=plan_id)["code"] in ("NOT_FOUND", "FORBIDDEN")
    assert not PostGroup.objects.exists()
    assert use(maker.token, "commit_plan", plan_id=plan_id)["post_group"]["status"] == "pending_confirmation"


def test_the_owners_commit_of_an_agents_plan_approves_it(
    agent_client: Any, account: ConnectedAccount, owner: User, clock: Any
) -> None:
    maker = agent_client(default_mode="requires_confirmation")
    plan_id = planned(maker.token, account.id, scheduled_at=TOMORROW)

    done = use(factories.user_token(owner), "commit_plan", plan_id=plan_id)
    assert done["post_group"]["status"] == "scheduled"


def test_a_teammate_reads_and_changes_nothing(api: ApiClient, account: ConnectedAccount, teammate: User, clock: Any) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    token = factories.user_token(teammate)

    assert use(token, "get_post", post_group_id=group["id"])["post_group"]["id"] == group["id"]
    assert refusal(token, "plan_change", post_group_id=group["id"], change="cancel")["code"] == "FORBIDDEN"
    assert not StoredPlan.objects.exists()


def test_a_revoked_agent_is_refused_before_any_tool(workspace: Workspace, api: ApiClient) -> None:
    agent = factories.AgentFactory(workspace=workspace, status="revoked")

    assert call(factories.agent_key(agent), "tools/list").json()["code"] == "API_KEY_REVOKED"


def test_a_paused_workspace_is_read_only(api: ApiClient, account: ConnectedAccount, workspace: Workspace) -> None:
    plan_id = planned(api.token, account.id)
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")

    assert use(api.token, "context")["workspace"]["status"] == "paused"
    assert refusal(api.token, "plan_post", text="a", targets=[account.id])["code"] == "WORKSPACE_PAUSED"
    assert refusal(api.token, "commit_plan", plan_id=plan_id)["code"] == "WORKSPACE_PAUSED"
    assert not PostGroup.objects.exists()
