"""POST /posts/{id}/reject: a person rejects a group awaiting confirmation."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from billing.models import LedgerEntry
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, events_of, kinds_of, read
from workspaces.models import User


def reject(client: ApiClient, group: dict[str, Any], key: str | None = None, **fields: Any) -> Any:
    return client.post(f"/posts/{group['id']}/reject", fields, **({"idempotency_key": key} if key else {}))


@pytest.fixture
def waiting(agent_client: Any, accounts: list[ConnectedAccount], clock: Any) -> dict[str, Any]:
    """A scheduled group of an agent, awaiting confirmation."""
    return create(agent_client(default_mode="requires_confirmation"), *accounts, scheduled_at=TOMORROW)


@pytest.mark.parametrize("fields", [{"reason": "Not our tone"}, {}])
def test_a_rejected_group_is_finished(
    owner: User, api: ApiClient, waiting: dict[str, Any], clock: Any, fields: dict[str, str]
) -> None:
    clock.shift(60)
    preview = reject(as_user(owner), waiting, **fields, dry_run=True).json()
    assert (read(api, waiting), kinds_of(waiting)) == (waiting, ["post.pending_confirmation"])

    answer = reject(as_user(owner), waiting, **fields)

    group = answer.json()["post_group"]
    assert (answer.status_code, group["status"], group["rejection_reason"]) == (200, "rejected", fields.get("reason"))
    assert group["finished_at"] == group["updated_at"] == "2027-03-10T12:01:00Z"
    assert {(each["status"], each["next_attempt_at"], each["cost_cents"]) for each in group["targets"]} == {
        ("cancelled", None, 0)
    }
    assert group == read(api, waiting)
    assert preview == {
        "dry_run": True,
        "operation": "posts.reject",
        "request": fields,
        "plan_hash": group["plan_hash"],
        "would_update": group,
    }
    assert kinds_of(waiting) == ["post.pending_confirmation", "post.rejected"]
    assert events_of(waiting)[-1]["data"] == {"post_group": group}
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0
    assert not LedgerEntry.objects.exists()


def test_the_reason_is_not_in_the_audit_log(api: ApiClient, waiting: dict[str, Any]) -> None:
    reject(api, waiting, reason="Confidential", dry_run=True)
    reject(api, waiting, reason="Confidential")

    entries = AuditEntry.objects.filter(operation="posts.reject").order_by("id")
    assert [(entry.dry_run, entry.resource_id) for entry in entries] == [(True, waiting["id"]), (False, waiting["id"])]
    assert not any("Confidential" in str(entry.metadata) for entry in entries)


@pytest.mark.parametrize("state", ["draft", "scheduled", "publishing", "published", "rejected", "cancelled"])
def test_only_groups_awaiting_confirmation_can_be_rejected(
    api: ApiClient, account: ConnectedAccount, waiting: dict[str, Any], state: str
) -> None:
    fields: dict[str, dict[str, Any]] = {"draft": {"draft": True}, "scheduled": {"scheduled_at": TOMORROW}}
    group = waiting if state in ("rejected", "cancelled") else create(api, account, **fields.get(state, {}))
    if state == "published":
        run_until_idle()
    if state == "rejected":
        reject(api, group)
    if state == "cancelled":
        api.delete(f"/posts/{group['id']}")
    before = read(api, group)
    assert before["status"] == state

    for dry_run in (True, False):
        assert_envelope(reject(api, group, dry_run=dry_run), 409, "INVALID_STATE")
    assert read(api, group) == before


@pytest.mark.parametrize("change", ["confirm", "edit", "cancel"])
def test_a_rejected_group_cannot_be_changed(api: ApiClient, waiting: dict[str, Any], change: str) -> None:
    reject(api, waiting)
    path = f"/posts/{waiting['id']}"

    answer = {
        "confirm": lambda: api.post(f"{path}/confirm", {"content_version": 1}),
        "edit": lambda: api.request("PATCH", path, {"text": "Better"}),
        "cancel": lambda: api.delete(path),
    }[change]()

    assert_envelope(answer, 409, "INVALID_STATE")


@pytest.mark.parametrize("fields", [{"reason": "a" * 1001}, {"reason": 1}, {"reason": None}, {"why": "So"}])
def test_invalid_input_is_refused(api: ApiClient, waiting: dict[str, Any], fields: dict[str, Any]) -> None:
    details = assert_envelope(reject(api, waiting, **fields), 422, "VALIDATION_FAILED")["details"]

    assert [row["field"] for row in details] == list(fields)


@pytest.mark.parametrize(("scope", "status"), [("posts.publish", 200), ("posts.schedule", 200), ("posts.draft", 403)])
def test_a_key_that_may_confirm_may_reject(key_with: Any, waiting: dict[str, Any], scope: str, status: int) -> None:
    assert reject(key_with(scope), waiting).status_code == status


def test_agents_members_and_strangers_do_not_reject(
    api: ApiClient, agent_client: Any, waiting: dict[str, Any], teammate: User, stranger: User
) -> None:
    assert_envelope(reject(agent_client(), waiting), 403, "FORBIDDEN")
    assert_envelope(reject(as_user(teammate), waiting), 403, "FORBIDDEN")
    assert_envelope(reject(as_user(stranger), waiting), 404, "NOT_FOUND")
    assert read(api, waiting) == waiting


def test_a_repeated_call_with_its_key_is_replayed(api: ApiClient, waiting: dict[str, Any]) -> None:
    first = reject(api, waiting, reason="No", key="k")
    again = reject(api, waiting, reason="No", key="k")

    assert (again.json(), again["idempotency-replayed"]) == (first.json(), "true")
    assert kinds_of(waiting) == ["post.pending_confirmation", "post.rejected"]


@pytest.mark.django_db(transaction=True)
def test_concurrent_rejection_and_confirmation_have_one_winner(
    api: ApiClient, agent_client: Any, account: ConnectedAccount
) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    for _ in range(10):
        group = create(agent, account)

        def race(n: int, group: dict[str, Any] = group) -> int:
            path = f"/posts/{group['id']}/confirm"
            return int((api.post(path, {"content_version": 1}) if n else reject(api, group)).status_code)

        rejected, confirmed = in_threads(2, race)

        assert {rejected, confirmed} == {200, 409}
        assert read(api, group)["status"] == ("rejected" if rejected == 200 else "publishing")
        kind = "post.rejected" if rejected == 200 else "post.confirmed"
        assert kinds_of(group) == ["post.pending_confirmation", kind]
