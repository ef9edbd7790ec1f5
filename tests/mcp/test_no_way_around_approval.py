"""An agent that needs a person's approval gets no post out, by whatever sequence of tools and API calls it tries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from posts.models import PostGroup, PostTarget
from tests import factories
from tests.conftest import ApiClient
from tests.mcp.calls import CURRENT, SHOWS_URLS, TASKS, call, request_of, send
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON

pytestmark = pytest.mark.django_db
UNSENT = {"draft", "pending_confirmation", "rejected", "cancelled"}
TIMES = st.sampled_from([None, timedelta(seconds=-30), timedelta(minutes=5), timedelta(days=2)])
API_PLANS = {
    "posts.confirm": {"content_version": 1},
    "posts.reject": {},
    "posts.cancel": {},
    "posts.retry": {},
    "posts.update": {"text": "By a plan"},
}


def later(ahead: timedelta | None) -> dict[str, str]:
    """Return the field scheduled_at of a request, if there is a time."""
    return {} if ahead is None else {"scheduled_at": (datetime.now(UTC) + ahead).isoformat().replace("+00:00", "Z")}


class AgentTryingEverything(RuleBasedStateMachine):
    plans, groups = Bundle("plans"), Bundle("groups")

    def __init__(self) -> None:
        super().__init__()
        self.clock = time_machine.travel(NOON, tick=False)
        self.time = self.clock.start()
        self.workspace = factories.WorkspaceFactory()
        self.account = factories.AccountFactory(workspace=self.workspace)
        self.agent = factories.AgentFactory(workspace=self.workspace, default_mode="requires_confirmation")
        self.client = ApiClient(factories.agent_key(self.agent))
        self.states: dict[str, str] = {}

    def teardown(self) -> None:
        self.clock.stop()

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = call(self.client.token, "tools/call", name=name, arguments=arguments).json()["result"]
        content: dict[str, Any] = result["structuredContent"]
        return content

    def body(self, ahead: timedelta | None, draft: bool) -> dict[str, Any]:
        target = {"platform": self.account.platform, "connected_account_id": self.account.id}
        return {"text": f"Text {datetime.now(UTC)}", "targets": [target], "draft": draft, **later(ahead)}

    @initialize(target=groups)
    def first_group(self) -> str:
        return str(self.client.post("/posts", self.body(None, draft=True)).json()["post_group"]["id"])

    @rule(target=plans, ahead=TIMES, draft=st.booleans())
    def plan_post(self, ahead: timedelta | None, draft: bool) -> str:
        planned = self.tool("plan_post", text="A text", targets=[self.account.id], draft=draft, **later(ahead))
        return str(planned["plan"]["id"])

    @rule(target=plans, group=groups, change=st.sampled_from(["update", "reschedule", "cancel", "retry"]), ahead=TIMES)
    def plan_change(self, group: str, change: str, ahead: timedelta | None) -> Any:
        fields = {} if change == "cancel" else later(ahead or timedelta(hours=1))
        planned = self.tool("plan_change", post_group_id=group, change=change, **fields)
        return planned["plan"]["id"] if "plan" in planned else multiple()

    @rule(target=plans, group=groups, operation=st.sampled_from(list(API_PLANS)))
    def plan_over_http(self, group: str, operation: str) -> Any:
        body = {"operation": operation, "post_group_id": group, "request": API_PLANS[operation]}
        answer = self.client.post("/plans", body)
        return answer.json()["plan"]["id"] if answer.status_code == 201 else multiple()

    @rule(target=groups, plan=plans)
    def commit(self, plan: str) -> Any:
        content = self.tool("commit_plan", plan_id=plan)
        return content["post_group"]["id"] if "post_group" in content else multiple()

    @rule(plan=plans, action=st.sampled_from(["accept", "decline", "cancel"]))
    def commit_with_the_clients_own_approval(self, plan: str, action: str) -> None:
        state = {"requestState": self.states[plan]} if plan in self.states else {}
        responses = {"approval": {"action": action, "content": {"approved": True}}}
        more = {"name": "commit_plan", "arguments": {"plan_id": plan}, "inputResponses": responses}
        result = call(self.client.token, "tools/call", SHOWS_URLS, **more, **state).json()["result"]
        if result["resultType"] == "input_required":
            self.states[plan] = result["requestState"]

    @rule(group=groups, plan=plans, method=st.sampled_from(["tasks/get", "tasks/update", "tasks/cancel"]))
    def use_a_task(self, group: str, plan: str, method: str) -> None:
        task_id = f"{group}.{plan}"
        body = request_of(method, TASKS, taskId=task_id, inputResponses={"approval": {"action": "accept"}})
        headers = {"mcp_protocol_version": CURRENT, "mcp_method": method, "mcp_name": task_id}
        assert send(self.client.token, body, **headers).status_code in (200, 400)

    @rule(plan=plans)
    def commit_over_http(self, plan: str) -> None:
        self.client.post(f"/plans/{plan}/commit")

    @rule(target=groups, ahead=TIMES, draft=st.booleans())
    def create_over_http(self, ahead: timedelta | None, draft: bool) -> str:
        return str(self.client.post("/posts", self.body(ahead, draft)).json()["post_group"]["id"])

    @rule(group=groups, ahead=TIMES)
    def edit_over_http(self, group: str, ahead: timedelta | None) -> None:
        self.client.request("PATCH", f"/posts/{group}", {"text": "Edited", **later(ahead)})

    @rule(group=groups, version=st.integers(1, 3))
    def confirm_over_http(self, group: str, version: int) -> None:
        assert self.client.post(f"/posts/{group}/confirm", {"content_version": version}).status_code in (403, 409)

    @rule(group=groups, verb=st.sampled_from(["retry", "reject"]))
    def retry_or_reject_over_http(self, group: str, verb: str) -> None:
        self.client.post(f"/posts/{group}/{verb}")

    @rule(group=groups)
    def cancel_over_http(self, group: str) -> None:
        self.client.delete(f"/posts/{group}")

    @rule()
    def widen_its_own_mode(self) -> None:
        answer = self.client.request("PATCH", f"/agents/{self.agent.id}", {"default_mode": "allow_publish"})
        assert answer.status_code == 403

    @rule(hours=st.sampled_from([0, 1, 30]))
    def time_passes_and_the_worker_runs(self, hours: int) -> None:
        self.time.shift(timedelta(hours=hours))
        run_until_idle()

    @invariant()
    def nothing_is_sent_or_about_to_be(self) -> None:
        groups = PostGroup.objects.filter(workspace=self.workspace)
        assert set(groups.values_list("status", flat=True)) <= UNSENT
        targets = PostTarget.objects.filter(group__workspace=self.workspace)
        assert not targets.exclude(due_at=None).exists()
        assert set(targets.values_list("attempts", flat=True)) <= {0}


def test_no_sequence_of_calls_gets_a_post_out() -> None:
    run_state_machine_as_test(
        AgentTryingEverything,
        settings=settings(
            max_examples=12,
            stateful_step_count=15,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
