"""The hash of a plan, and the header Plan-Hash, by which a caller insists on the plan that was previewed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.plan_hashes import OTHER_HASH
from tests.posts.calls import group_in
from tests.posts.rows import TOMORROW, body_for, create, read


def created(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 201, answer.content
    group: dict[str, Any] = answer.json()["post_group"]
    return group


def hash_of(api: ApiClient, account: ConnectedAccount, **fields: Any) -> str:
    answer = api.post("/posts", {**body_for(account), **fields, "dry_run": True})
    assert answer.status_code == 201, answer.content
    found: str = answer.json()["plan_hash"]
    return found


def test_the_same_request_has_the_same_hash_later(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    first = hash_of(api, account)
    clock.shift(60)

    assert hash_of(api, account, metadata={"campaign": "spring"}, wait=True) == first


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "Other"},
        {"draft": True},
        {"scheduled_at": TOMORROW},
        {"webhook_url": "https://hooks.example.com/"},
    ],
)
def test_another_outcome_has_another_hash(api: ApiClient, account: ConnectedAccount, clock: Any, fields: Any) -> None:
    assert hash_of(api, account, **fields) != hash_of(api, account)


def test_huge_numbers_in_a_drafts_options_have_a_hash(api: ApiClient, account: ConnectedAccount) -> None:
    body = body_for(account)
    body["targets"][0]["options"] = {"unknown": [2**60, 1.5, None]}

    assert created(api.post("/posts", {**body, "draft": True}))["plan_hash"].startswith("sha256:")


def test_a_post_is_created_as_planned_or_not_at_all(api: ApiClient, account: ConnectedAccount) -> None:
    planned = hash_of(api, account)

    refused = api.post("/posts", body_for(account, text="Other"), plan_hash=planned, idempotency_key="k")
    assert_envelope(refused, 409, "PLAN_CHANGED")
    assert not PostGroup.objects.exists()

    group = created(api.post("/posts", body_for(account), plan_hash=planned, idempotency_key="k"))
    assert group["plan_hash"] == planned
    replayed = api.post("/posts", body_for(account), plan_hash=OTHER_HASH, idempotency_key="k")
    assert (created(replayed)["id"], replayed["Idempotency-Replayed"]) == (group["id"], "true")


def test_the_hash_is_compared_for_dry_runs_too(api: ApiClient, account: ConnectedAccount) -> None:
    body = {**body_for(account), "dry_run": True}

    assert_envelope(api.post("/posts", body, plan_hash=OTHER_HASH), 409, "PLAN_CHANGED")


@pytest.mark.parametrize("value", ["", "x", "sha256:" + "A" * 64, "md5:" + "0" * 64, "sha256:" + "0" * 63])
def test_another_form_of_the_header_is_refused(api: ApiClient, account: ConnectedAccount, value: str) -> None:
    error = assert_envelope(api.post("/posts", body_for(account), plan_hash=value), 422, "VALIDATION_FAILED")

    assert [each["field"] for each in error["details"]] == ["Plan-Hash"]
    assert not PostGroup.objects.exists()


def test_a_change_to_the_group_since_the_preview_is_noticed(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, scheduled_at=TOMORROW)
    path = f"/posts/{group['id']}"
    planned = api.delete(f"{path}?dry_run=true").json()["plan_hash"]
    edited = group_in(api.request("PATCH", path, {"text": "Other"}))

    assert_envelope(api.delete(path, plan_hash=planned), 409, "PLAN_CHANGED")
    assert read(api, group) == edited

    planned = api.delete(f"{path}?dry_run=true").json()["plan_hash"]
    assert group_in(api.delete(path, plan_hash=planned))["status"] == "cancelled"


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
TIMES = st.sampled_from([None, TOMORROW, "2027-03-12T12:00:00Z"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("update"), st.fixed_dictionaries({"text": TEXTS})),
        st.tuples(st.just("update"), st.fixed_dictionaries({"scheduled_at": TIMES})),
        st.tuples(st.just("confirm"), st.just({})),
        st.tuples(st.just("reject"), st.fixed_dictionaries({"reason": TEXTS})),
        st.tuples(st.just("cancel"), st.just({})),
        st.tuples(st.just("retry"), st.just({})),
    ),
    max_size=5,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, draft=st.booleans(), at=TIMES, operations=OPERATIONS)
def test_every_preview_equals_what_is_committed(
    api: ApiClient, account: ConnectedAccount, clock: Any, text: str, draft: bool, at: str | None, operations: Any
) -> None:
    fields = {"text": text, "draft": draft} | ({"scheduled_at": at} if at else {})
    planned = hash_of(api, account, **fields)
    group = create(api, account, **fields)
    assert group["plan_hash"] == planned
    for operation, body in operations:
        if operation == "confirm":
            body = {"content_version": group["content_version"]}
        previewed = send(api, group, operation, {**body, "dry_run": True})
        committed = send(api, group, operation, body)
        assert previewed.status_code == committed.status_code
        if committed.status_code == 200:
            group = group_in(committed)
            assert previewed.json()["would_update"] == group == read(api, group)
            assert previewed.json()["plan_hash"] == group["plan_hash"]


def send(api: ApiClient, group: dict[str, Any], operation: str, body: dict[str, Any]) -> Any:
    path = f"/posts/{group['id']}"
    if operation == "update":
        return api.request("PATCH", path, body)
    if operation == "cancel":
        return api.delete(f"{path}?dry_run=true" if body else path)
    return api.post(f"{path}/{operation}", body)
