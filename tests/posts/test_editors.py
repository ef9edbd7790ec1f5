"""Editors whose posts need approval: what they publish waits, and no sequence of their calls gets a post out."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostGroup, PostTarget, Series
from posts.series_worker_loop import SeriesLoop
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.pages import Pages, form_of, words
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, fail_as_missed, read
from webhooks.models import Event
from workspaces.models import Member, User, Workspace

APPROVED = "Approved text"


@pytest.fixture
def editor(workspace: Workspace) -> User:
    """An editor of a workspace where posts by editors need approval."""
    Workspace.objects.filter(pk=workspace.pk).update(editors_need_approval=True)
    person: User = factories.UserFactory(display_name="Edith")
    Member.objects.create(workspace=workspace, user=person, role="editor")
    return person


def created(person: User, workspace: Workspace, account: ConnectedAccount, **fields: Any) -> dict[str, Any]:
    return create(as_user(person), account, workspace_id=workspace.id, **fields)


def is_out() -> bool:
    run_until_idle()
    return PostTarget.objects.exclude(attempts=0).exists()


@pytest.mark.parametrize("fields", [{}, {"scheduled_at": TOMORROW}])
def test_what_an_editor_publishes_waits_for_an_owner_or_admin(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any, fields: dict[str, Any]
) -> None:
    made = created(editor, workspace, account, **fields)
    assert made["status"] == "pending_confirmation"
    clock.shift(timedelta(days=2))
    assert not is_out()
    assert [each.kind for each in Event.objects.all()] == ["post.pending_confirmation"]
    for deed, body in (("confirm", {"content_version": 1}), ("reject", {})):
        assert_envelope(as_user(editor).post(f"/posts/{made['id']}/{deed}", body), 403, "FORBIDDEN")

    confirmed = as_user(owner).post(f"/posts/{made['id']}/confirm", {"content_version": 1})
    assert confirmed.status_code == 200
    assert is_out()


def test_without_the_setting_an_editor_publishes_but_approves_nothing(
    workspace: Workspace, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    Workspace.objects.update(editors_need_approval=False)
    agent = factories.AgentFactory.create(workspace=workspace, default_mode="requires_confirmation")
    waiting = create(ApiClient(factories.agent_key(agent)), account)
    draft = created(editor, workspace, account, draft=True, text="Another")
    confirm = {"content_version": 1}

    assert_envelope(as_user(editor).post(f"/posts/{waiting['id']}/confirm", confirm), 403, "FORBIDDEN")
    assert_envelope(as_user(editor).post(f"/posts/{waiting['id']}/reject"), 403, "FORBIDDEN")
    assert as_user(editor).post(f"/posts/{draft['id']}/confirm", confirm).status_code == 200
    assert is_out()


def test_an_editor_cannot_confirm_the_plan_of_an_agent(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount
) -> None:
    Workspace.objects.update(editors_need_approval=False)
    agent = factories.AgentFactory.create(workspace=workspace, default_mode="requires_confirmation")
    asked = {"operation": "posts.create", "request": body_for(account)}
    plan = ApiClient(factories.agent_key(agent)).post("/plans", asked).json()["plan"]["id"]

    assert_envelope(as_user(editor).post(f"/plans/{plan}/commit"), 403, "FORBIDDEN")
    assert as_user(owner).post(f"/plans/{plan}/commit").status_code == 201


def test_an_editor_sends_nothing_again_that_failed_and_confirms_no_draft(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    failed = created(owner, workspace, account, text="[sandbox:reject]")
    run_until_idle()
    draft = created(editor, workspace, account, draft=True)
    resolution = {"target_id": read(as_user(owner), failed)["targets"][0]["id"], "published": False}
    fail_as_missed(failed["id"])

    for path, body in (
        (f"/posts/{failed['id']}/retry", {}),
        (f"/posts/{failed['id']}/resolve", resolution),
        ("/posts/retry-missed", {"workspace_id": workspace.id, "post_group_ids": [failed["id"]]}),
        (f"/posts/{draft['id']}/confirm", {"content_version": 1}),
    ):
        assert_envelope(as_user(editor).post(path, body), 403, "FORBIDDEN")


def test_an_editor_changes_neither_a_scheduled_post_nor_the_series_of_others_without_approval(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    scheduled = created(owner, workspace, account, scheduled_at=TOMORROW)
    rule = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-11T09:00", "timezone": "UTC", "workspace_id": workspace.id}
    series = as_user(owner).post("/series", {"post": body_for(account), **rule}).json()["series"]["id"]
    changed = as_user(editor).request("PATCH", f"/posts/{scheduled['id']}", {"text": "Other"})

    assert changed.json()["post_group"]["status"] == "pending_confirmation"
    other = {"post": body_for(account, text="Other")}
    assert_envelope(as_user(editor).request("PATCH", f"/series/{series}", other), 403, "FORBIDDEN")
    assert as_user(editor).request("PATCH", f"/series/{series}", {"status": "paused"}).status_code == 200


def test_an_editor_never_changes_what_the_series_of_others_publish(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    """Not even while editors need no approval: the series goes on in the owner's name when that changes."""
    Workspace.objects.update(editors_need_approval=False)
    rule = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-11T09:00", "timezone": "UTC", "workspace_id": workspace.id}
    series = as_user(owner).post("/series", {"post": body_for(account), **rule}).json()["series"]["id"]
    for change in ({"post": body_for(account, text="Other")}, {"rrule": "FREQ=WEEKLY"}, {"status": "active"}):
        assert_envelope(as_user(editor).request("PATCH", f"/series/{series}", change), 403, "FORBIDDEN")

    assert as_user(editor).request("PATCH", f"/series/{series}", {"status": "paused"}).status_code == 200
    assert as_user(editor).delete(f"/series/{series}").status_code == 200


def test_posts_of_an_editors_series_wait(workspace: Workspace, editor: User, account: ConnectedAccount, clock: Any) -> None:
    rule = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-11T09:00", "timezone": "UTC", "workspace_id": workspace.id}
    assert as_user(editor).post("/series", {"post": body_for(account), **rule}).status_code == 201
    while SeriesLoop().run_once():
        pass

    assert set(PostGroup.objects.values_list("status", flat=True)) == {"pending_confirmation"}


class RandomEditor:
    """An editor who tries everything that might get a post out, with new texts and on any post of the workspace."""

    def __init__(self, workspace: Workspace, editor: User, account: ConnectedAccount) -> None:
        self.workspace, self.api, self.account = workspace, as_user(editor), account
        self.random, self.texts = random.Random(7), itertools.count()
        self.calls: list[Callable[[], Any]] = [
            self.create,
            lambda: self.create(scheduled_at=(datetime.now(UTC) + timedelta(hours=5)).isoformat()),
            lambda: self.create(draft=True),
            lambda: self.api.post("/posts/batch", {"workspace_id": workspace.id, "posts": [self.body()]}),
            lambda: self.api.request("PATCH", f"/posts/{self.any_group().pk}", {"text": self.body()["text"]}),
            lambda: self.api.request("PATCH", f"/posts/{self.any_group().pk}", {"scheduled_at": "2027-03-12T12:00:00Z"}),
            lambda: self.api.post(f"/posts/{self.any_group().pk}/retry"),
            lambda: self.api.delete(f"/posts/{self.any_group().pk}"),
            self.confirm,
            self.plan_and_commit,
            self.make_series,
        ]

    def call_something(self) -> None:
        self.random.choice(self.calls)()

    def body(self, **fields: Any) -> dict[str, Any]:
        return body_for(self.account, text=f"Unapproved {next(self.texts)}", **fields)

    def any_group(self) -> PostGroup:
        return self.random.choice(list(PostGroup.objects.order_by("pk")))

    def create(self, **fields: Any) -> None:
        self.api.post("/posts", self.body(workspace_id=self.workspace.id, **fields))

    def confirm(self) -> None:
        group = self.any_group()
        self.api.post(f"/posts/{group.pk}/confirm", {"content_version": group.content_version})

    def plan_and_commit(self) -> None:
        request = self.body(workspace_id=self.workspace.id)
        answer = self.api.post("/plans", {"operation": "posts.create", "request": request}).json()
        if "plan" in answer:
            self.api.post(f"/plans/{answer['plan']['id']}/commit")

    def make_series(self) -> None:
        rule = {"rrule": "FREQ=DAILY", "starts_at": "2027-03-01T09:00", "timezone": "UTC"}
        self.api.post("/series", {"post": self.body(), "workspace_id": self.workspace.id, **rule})


def test_no_sequence_of_an_editors_calls_gets_a_post_out(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    """Whatever goes out is what the owner has released, unchanged."""
    for number in range(3):
        created(owner, workspace, account, text=f"{APPROVED} {number}", scheduled_at=TOMORROW)
    failed = created(owner, workspace, account, text="[sandbox:reject] of the owner")
    run_until_idle()
    attempts = PostTarget.objects.get(group=failed["id"]).attempts

    someone = RandomEditor(workspace, editor, account)
    for _ in range(80):
        someone.call_something()
        clock.shift(timedelta(minutes=someone.random.randint(1, 120)))
        SeriesLoop().run_once()
        run_until_idle()

    out = PostTarget.objects.exclude(attempts=0).exclude(group=failed["id"]).select_related("group")
    assert all(target.group.text.startswith(APPROVED) for target in out)
    assert PostTarget.objects.get(group=failed["id"]).attempts == attempts
    assert PostGroup.objects.filter(status="pending_confirmation").count() > 5
    assert Series.objects.exists()


def test_the_composer_asks_for_approval(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    pages = Pages(workspace, editor)
    draft = created(editor, workspace, account, draft=True)
    address = pages.address("post-edit", post_group_id=draft["id"])
    shown = pages.http.get(address)
    assert "Ask to publish once approved" in shown.content.decode()
    assert "Publish now" not in shown.content.decode()
    asked = pages.http.post(address, {**form_of(shown), "action": "publish"}, follow=True)

    assert "The post waits for the approval of an owner or admin." in asked.content.decode()
    assert read(as_user(owner), draft)["status"] == "pending_confirmation"
    assert not is_out()
    entry = AuditEntry.objects.latest("pk")
    assert (entry.operation, entry.actor_id) == ("posts.update", editor.pk)
    approvals = pages.get("approvals")
    assert "Edith asks to publish" in words(approvals)
    assert "Approve" not in words(approvals).replace("Approvals", "")
    page = Pages(workspace, owner).get("approvals")
    assert "Approve and publish now" in words(page)
    confirmed = Pages(workspace, owner).post("post-confirm", {"content_version": "2"}, post_group_id=draft["id"])
    assert confirmed.status_code == 303
    clock.shift(20)
    assert is_out()


@pytest.mark.parametrize("button", ["schedule", "publish"])
def test_a_scheduled_post_that_an_editor_changes_in_the_composer_waits(
    workspace: Workspace, owner: User, editor: User, account: ConnectedAccount, clock: Any, button: str
) -> None:
    scheduled = created(owner, workspace, account, scheduled_at=TOMORROW)
    pages = Pages(workspace, editor)
    address = pages.address("post-edit", post_group_id=scheduled["id"])
    form = form_of(pages.http.get(address)) | {"text": "Other", "action": button}
    asked = pages.http.post(address, form, follow=True)

    assert asked.status_code == 200
    assert "The post waits for the approval of an owner or admin" in asked.content.decode()
    after = read(as_user(owner), scheduled)
    assert (after["status"], after["text"]) == ("pending_confirmation", "Other")


def test_an_editor_can_do_neither_on_pages_what_services_refuse(
    workspace: Workspace, editor: User, account: ConnectedAccount, clock: Any
) -> None:
    waiting = created(editor, workspace, account)
    pages = Pages(workspace, editor)
    for name in ("post-confirm", "post-reject"):
        answer = pages.post(name, {"content_version": "1"}, post_group_id=waiting["id"], follow=True)
        assert "Editors cannot confirm or reject posts." in words(answer)
    assert PostGroup.objects.get().status == "pending_confirmation"
    for name in ("settings-editors", "settings-caps", "member-invite"):
        pages.post(name, {"email": "a@example.com", "role": "admin", "spend_cap": "5", "url_post_cap": "5"})
    workspace.refresh_from_db()
    assert workspace.editors_need_approval
    assert workspace.invitations.count() == workspace.monthly_spend_cap_cents == 0


@pytest.mark.parametrize("role", ["editor", "member"])
def test_buttons_for_what_a_role_may_not_do_are_absent(workspace: Workspace, role: str, account: ConnectedAccount) -> None:
    person = factories.UserFactory()
    Member.objects.create(workspace=workspace, user=person, role=role)
    pages = Pages(workspace, person)

    for name in ("accounts", "agents", "api-keys", "webhooks", "settings", "usage", "members"):
        shown = pages.get(name).content.decode()
        forms = shown.count('method="post"') - shown.count("/sign-out") - shown.count("/leave")
        assert (name, forms) == (name, 0)
    assert ('class="button primary"' in pages.get("home").content.decode()) is (role == "editor")
    assert ("read-only" in words(pages.get("compose"))) is (role == "member")


def test_the_owner_decides_on_the_settings_page(workspace: Workspace, owner: User) -> None:
    pages = Pages(workspace, owner)
    for sent, expected in (({"editors_need_approval": "on"}, True), ({}, False)):
        assert pages.post("settings-editors", sent).status_code == 303
        workspace.refresh_from_db()
        assert workspace.editors_need_approval is expected
        entry = AuditEntry.objects.latest("pk")
        assert (entry.operation, entry.metadata["editors_need_approval"]) == ("workspaces.update", expected)
