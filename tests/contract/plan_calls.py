"""One request for each operation that has a dry run, with the rows that it needs."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests import factories
from tests.accounts.oauth_calls import CALLBACK, granted
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.oauth_platform import FakeOAuthPlatform
from tests.media.pictures import jpeg
from tests.people import as_operator, as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, fail_as_missed, read
from tests.webhooks.rows import make_delivery
from webhooks.models import Delivery, DeliveryStatus
from workspaces.models import Workspace

RECEIVER = "https://receiver.example/hook"


@dataclass
class PlannedCall:
    """A request that can be previewed: who sends it, and what."""

    client: ApiClient
    method: str
    path: str
    body: dict[str, Any] | None = field(default_factory=dict)

    def send(self, *, dry_run: bool = False, **headers: str) -> Any:
        if not dry_run:
            return self.client.request(self.method, self.path, self.body, **headers)
        if self.body is not None:
            return self.client.request(self.method, self.path, {**self.body, "dry_run": True}, **headers)
        return self.client.request(self.method, f"{self.path}&dry_run=true", **headers)


class World:
    """A workspace with a key of all scopes, its owner, the operator, and servers of other parties when a call needs them."""

    def __init__(self, workspace: Workspace, request: pytest.FixtureRequest) -> None:
        self.workspace = workspace
        self.request = request
        self.api = ApiClient(factories.workspace_key(workspace))

    def by_key(self, method: str, path: str, **body: Any) -> PlannedCall:
        return PlannedCall(self.api, method, path, body)

    def by_owner(self, method: str, path: str, **body: Any) -> PlannedCall:
        return PlannedCall(as_user(self.workspace.owner_user), method, path, body)

    def by_operator(self, path: str, **body: Any) -> PlannedCall:
        return PlannedCall(as_operator(), "POST", f"/ops/{path}", body)

    def agent(self) -> str:
        return str(factories.AgentFactory.create(workspace=self.workspace).id)

    def spare_key(self) -> str:
        factories.workspace_key(self.workspace)
        return str(self.workspace.api_keys.latest("pk").id)

    def account(self) -> ConnectedAccount:
        made: ConnectedAccount = factories.AccountFactory.create(workspace=self.workspace)
        return made

    def post(self, **fields: Any) -> str:
        return str(create(self.api, self.account(), **fields)["id"])

    def pending_post(self) -> str:
        agent = factories.AgentFactory.create(workspace=self.workspace, default_mode="requires_confirmation")
        return str(create(ApiClient(factories.agent_key(agent)), self.account())["id"])

    def published_post(self, text: str) -> dict[str, Any]:
        made = create(self.api, self.account(), text=text)
        run_until_idle()
        return read(self.api, made)

    def plan(self) -> str:
        request = body_for(self.account(), scheduled_at=TOMORROW)
        return str(self.api.post("/plans", {"operation": "posts.create", "request": request}).json()["plan"]["id"])

    def series_request(self) -> dict[str, Any]:
        rule = {"rrule": "FREQ=DAILY", "starts_at": "2026-01-01T09:00", "timezone": "Europe/Berlin"}
        return {"post": body_for(self.account()), **rule}

    def series(self) -> dict[str, Any]:
        return dict(self.api.post("/series", self.series_request()).json()["series"])

    def feeds(self) -> str:
        return f"/workspaces/{self.workspace.id}/calendar-feeds"

    def feed(self) -> str:
        return str(as_user(self.workspace.owner_user).post(self.feeds()).json()["calendar_feed"]["id"])

    def failed_delivery(self) -> Delivery:
        row = make_delivery(self.workspace, RECEIVER)
        Delivery.objects.filter(pk=row.pk).update(status=DeliveryStatus.DEAD_LETTER, due_at=None)
        return row


def _connect(world: World) -> PlannedCall:
    server: FakeBluesky = world.request.getfixturevalue("pds")
    given = {"identifier": "alice.test", "app_password": "abcd-efgh-ijkl-mnop", "service": server.url}
    return world.by_key("POST", "/accounts/connect", workspace_id=world.workspace.id, platform="bluesky", credentials=given)


def _complete_connection(world: World) -> PlannedCall:
    server: FakeOAuthPlatform = world.request.getfixturevalue("provider")
    query = granted(world.api, world.workspace, server).query()
    return PlannedCall(world.api, "GET", f"{CALLBACK}?{query}", None)


def _billing(name: str) -> Callable[[World], PlannedCall]:
    def call(world: World) -> PlannedCall:
        world.request.getfixturevalue("processor")
        return world.by_owner("POST", f"/billing/{name}-sessions", workspace_id=world.workspace.id)

    return call


def _confirm(world: World) -> PlannedCall:
    return world.by_key("POST", f"/posts/{world.pending_post()}/confirm", content_version=1)


def _skip(world: World) -> PlannedCall:
    series = world.series()
    return world.by_key("POST", f"/series/{series['id']}/skip", at=series["next"][0]["at"])


def _resolve(world: World) -> PlannedCall:
    group = world.published_post("[sandbox:unknown]")
    return world.by_key("POST", f"/posts/{group['id']}/resolve", target_id=group["targets"][0]["id"], published=False)


def _update_queue(world: World) -> PlannedCall:
    account = world.account()
    create(world.api, account, scheduled_at=TOMORROW)
    return world.by_key("POST", "/posts/queue", connected_account_id=account.id, action="move", hours=1)


def _retry_missed(world: World) -> PlannedCall:
    missed = world.post(scheduled_at=TOMORROW)
    fail_as_missed(missed)
    return world.by_key("POST", "/posts/retry-missed", post_group_ids=[missed])


def _create_agent(world: World) -> PlannedCall:
    owner, rights = world.workspace.owner_user_id, {"scopes": ["posts.read"], "default_mode": "draft"}
    return world.by_key("POST", "/agents", workspace_id=world.workspace.id, owner_user_id=owner, name="Herald", **rights)


def _create_key(world: World) -> PlannedCall:
    return world.by_key("POST", "/auth/api-keys", workspace_id=world.workspace.id, name="CI", scopes=["posts.read"])


CALLS: Mapping[str, Callable[[World], PlannedCall]] = {
    "accounts.connect": _connect,
    "accounts.complete_connection": _complete_connection,
    "accounts.update_slots": lambda w: w.by_key(
        "PUT", f"/accounts/{w.account().id}/slots", timezone="UTC", slots=[{"weekday": "mon", "time": "09:00"}]
    ),
    "accounts.disconnect": lambda w: w.by_key("DELETE", f"/accounts/{w.account().id}"),
    "agents.create": _create_agent,
    "agents.update": lambda w: w.by_key("PATCH", f"/agents/{w.agent()}", name="Other"),
    "agents.revoke": lambda w: w.by_key("DELETE", f"/agents/{w.agent()}"),
    "agents.rotate_key": lambda w: w.by_key("POST", f"/agents/{w.agent()}/rotate-key"),
    "api_keys.create": _create_key,
    "api_keys.revoke": lambda w: w.by_key("DELETE", f"/auth/api-keys/{w.spare_key()}"),
    "billing.create_checkout_session": _billing("checkout"),
    "billing.create_portal_session": _billing("portal"),
    "media.upload": lambda w: w.by_key("POST", "/media", content_base64=base64.b64encode(jpeg()).decode()),
    "media.delete": lambda w: w.by_key("DELETE", f"/media/{factories.MediaAssetFactory.create(workspace=w.workspace).id}"),
    "ops.pause_workspace": lambda w: w.by_operator(f"workspaces/{w.workspace.id}/pause"),
    "ops.resume_workspace": lambda w: w.by_operator(f"workspaces/{w.workspace.id}/resume"),
    "ops.reconcile_billing": lambda w: w.by_operator("billing/reconcile"),
    "ops.replay_deliveries": lambda w: w.by_operator("deliveries/replay", ids=[w.failed_delivery().id]),
    "ops.run_retention": lambda w: w.by_operator("retention/run"),
    "ops.revoke_key": lambda w: w.by_operator("keys/revoke", id=w.spare_key()),
    "plans.commit": lambda w: w.by_key("POST", f"/plans/{w.plan()}/commit"),
    "posts.create": lambda w: w.by_key("POST", "/posts", **body_for(w.account())),
    "posts.create_batch": lambda w: w.by_key("POST", "/posts/batch", posts=[body_for(w.account())]),
    "posts.update": lambda w: w.by_key("PATCH", f"/posts/{w.post(draft=True)}", text="Other"),
    "posts.update_queue": _update_queue,
    "posts.retry_missed": _retry_missed,
    "posts.cancel": lambda w: w.by_key("DELETE", f"/posts/{w.post(scheduled_at=TOMORROW)}"),
    "posts.retry": lambda w: w.by_key("POST", f"/posts/{w.published_post('[sandbox:reject]')['id']}/retry"),
    "posts.confirm": _confirm,
    "posts.reject": lambda w: w.by_key("POST", f"/posts/{w.pending_post()}/reject"),
    "posts.resolve": _resolve,
    "calendar_feeds.create": lambda w: w.by_owner("POST", w.feeds()),
    "calendar_feeds.delete": lambda w: w.by_owner("DELETE", f"{w.feeds()}/{w.feed()}"),
    "series.create": lambda w: w.by_key("POST", "/series", **w.series_request()),
    "series.update": lambda w: w.by_key("PATCH", f"/series/{w.series()['id']}", rrule="FREQ=WEEKLY"),
    "series.delete": lambda w: w.by_key("DELETE", f"/series/{w.series()['id']}"),
    "series.skip": _skip,
    "users.delete": lambda w: w.by_owner("DELETE", f"/users/{w.workspace.owner_user_id}"),
    "webhooks.replay": lambda w: w.by_key("POST", f"/webhooks/deliveries/{w.failed_delivery().id}/replay"),
    "workspaces.create": lambda w: w.by_owner("POST", "/workspaces", owner_user_id=w.workspace.owner_user_id, name="Second"),
    "workspaces.update_caps": lambda w: w.by_key("PATCH", f"/workspaces/{w.workspace.id}", monthly_spend_cap_cents=7),
    "workspaces.delete": lambda w: w.by_key("DELETE", f"/workspaces/{w.workspace.id}"),
    "workspaces.rotate_signing_secret": lambda w: w.by_key(
        "POST", f"/workspaces/{w.workspace.id}/webhook-signing-secret/rotate"
    ),
}
