"""Series through the API: what is refused, what is shown, who may see and change them, and plans."""

from __future__ import annotations

import time
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostGroup, Series
from posts.series_selectors import MAX_LIVE_SERIES
from tests import factories
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.series.rows import change, create_series, read_series, run_series_loop, series_body
from workspaces.models import User, Workspace

pytestmark = pytest.mark.usefixtures("clock")


def refused_fields(answer: Any) -> list[str]:
    """The fields that a response of 422 names."""
    assert answer.status_code == 422, answer.content
    return [detail["field"] for detail in answer.json()["details"]]


def test_created_series_shows_its_rule_and_its_next_occurrences(api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account, name="Morning", rrule="FREQ=WEEKLY;BYDAY=MO,FR", exdates=["2027-03-12T09:00"])

    assert series["post"] == {
        "text": "Hello",
        "targets": [{"platform": account.platform, "connected_account_id": account.id, "text": None, "options": {}}],
        "media": [],
        "webhook_url": None,
        "metadata": {},
    }
    assert (series["name"], series["status"], series["made"], series["cost_cents_each"]) == ("Morning", "active", 0, 0)
    assert len(series["next"]) == 10
    assert series["next"][:2] == [
        {"at": "2027-03-15T08:00:00Z", "local": "2027-03-15T09:00", "post_group_id": None, "error": None},
        {"at": "2027-03-19T08:00:00Z", "local": "2027-03-19T09:00", "post_group_id": None, "error": None},
    ]
    assert read_series(api, series) == series
    assert api.get(f"/series?workspace_id={series['workspace_id']}").json() == {"series": [series], "next_cursor": None}


def test_price_of_each_post_is_shown(api: ApiClient, workspace: Workspace) -> None:
    real = factories.AccountFactory(workspace=workspace, sandbox=False)

    assert create_series(api, real)["cost_cents_each"] == 1


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"rrule": "FREQ=HOURLY"}, "rrule"),
        ({"rrule": "FREQ=DAILY;UNTIL=20270301T000000Z"}, "rrule"),
        ({"rrule": "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"}, "rrule"),
        ({"rrule": "FREQ=DAILY\n"}, "rrule"),
        ({"starts_at": "2027-03-08"}, "starts_at"),
        ({"starts_at": "2027-03-08T09:00Z"}, "starts_at"),
        ({"starts_at": "2027-02-30T09:00"}, "starts_at"),
        ({"starts_at": "1027-03-08T09:00"}, "starts_at"),
        ({"starts_at": "9999-12-31T23:59"}, "rrule"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"exdates": ["2027-03-08T09:00:00"]}, "exdates[0]"),
        ({"exdates": ["2027-03-08T09:00"] * 1001}, "exdates"),
        ({"post": {"scheduled_at": "2027-03-11T12:00:00Z"}}, "post.scheduled_at"),
        ({"post": {"draft": True}}, "post.draft"),
        ({"post": {"media": [{"media_id": "med_01jd0000000000000000000000"}]}}, "post.media[0].media_id"),
        ({"post": {"targets": []}}, "post.targets"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_wrong_input_is_refused(api: ApiClient, account: ConnectedAccount, fields: dict[str, Any], refused: str) -> None:
    began = time.process_time()
    answer = api.post("/series", series_body(account, **fields))

    assert refused_fields(answer) == [refused]
    assert time.process_time() - began < 2
    assert not Series.objects.exists()


def test_content_that_no_platform_takes_is_refused(api: ApiClient, account: ConnectedAccount) -> None:
    answer = api.post("/series", series_body(account, post={"text": "x" * 5000}))

    assert (answer.status_code, answer.json()["code"]) == (422, "CONTENT_INVALID")
    assert answer.json()["details"][0]["field"].startswith("post.targets[0]")


def test_workspace_has_at_most_a_hundred_live_series(api: ApiClient, account: ConnectedAccount) -> None:
    series = [create_series(api, account) for _ in range(MAX_LIVE_SERIES)]

    assert api.post("/series", series_body(account)).json()["code"] == "CONFLICT"
    assert api.delete(f"/series/{series[0]['id']}").status_code == 200
    assert api.post("/series", series_body(account)).status_code == 201


def test_foreign_and_absent_series_answer_alike(
    api: ApiClient, account: ConnectedAccount, owner: User, teammate: User, stranger: User
) -> None:
    series = create_series(api, account)
    absent = {**series, "id": f"ser_{'0' * 26}"}
    bodies = {"GET": None, "PATCH": {"name": "Mine"}, "DELETE": {}}
    for method, body in bodies.items():
        answers = [as_user(stranger).request(method, f"/series/{each['id']}", body) for each in (series, absent)]
        first, second = ({**answer.json(), "trace_id": ""} for answer in answers)
        assert (first, first["code"]) == (second, "NOT_FOUND")
    at = series["next"][0]["at"]
    assert as_user(stranger).post(f"/series/{series['id']}/skip", {"at": at}).status_code == 404
    assert as_user(stranger).get(f"/series?workspace_id={series['workspace_id']}").status_code == 404

    assert as_user(owner).get(f"/series/{series['id']}").json()["series"] == series
    assert as_user(teammate).get(f"/series/{series['id']}").json()["series"] == series
    assert as_user(teammate).request("PATCH", f"/series/{series['id']}", {"name": "Ours"}).status_code == 403
    assert read_series(api, series) == series


def test_scopes_are_those_of_a_scheduled_post(key_with: Any, api: ApiClient, workspace: Workspace) -> None:
    real = factories.AccountFactory(workspace=workspace, sandbox=False)
    body, drafter = series_body(real), key_with("posts.draft")
    series = create_series(api, real)

    assert drafter.post("/series", body).json()["code"] == "SCOPE_MISSING"
    assert drafter.delete(f"/series/{series['id']}").json()["code"] == "SCOPE_MISSING"
    assert drafter.request("PATCH", f"/series/{series['id']}", {"status": "paused"}).json()["code"] == "SCOPE_MISSING"
    assert key_with("posts.schedule").post("/series", body).status_code == 201
    assert drafter.post("/series", series_body(factories.AccountFactory(workspace=workspace))).status_code == 201


def test_draft_agent_may_not_create_a_series(agent_client: Any, account: ConnectedAccount) -> None:
    answer = agent_client(default_mode="draft").post("/series", series_body(account))

    assert answer.json()["code"] == "AGENT_MODE_FORBIDS"


def test_agent_may_stop_but_not_change_the_series_of_others(
    api: ApiClient, agent_client: Any, account: ConnectedAccount
) -> None:
    series, agent = create_series(api, account), agent_client(default_mode="requires_confirmation")

    assert agent.request("PATCH", f"/series/{series['id']}", {"post": series_body(account)["post"]}).status_code == 403
    assert agent.request("PATCH", f"/series/{series['id']}", {"status": "active"}).status_code == 403
    assert change(agent, series, status="paused")["status"] == "paused"


def test_agent_without_an_account_of_the_series_may_not_stop_it(
    api: ApiClient, agent_client: Any, account: ConnectedAccount
) -> None:
    series, agent = create_series(api, account), agent_client(account_allowlist=[])

    for answer in (
        agent.delete(f"/series/{series['id']}"),
        agent.request("PATCH", f"/series/{series['id']}", {"status": "paused"}),
        agent.post(f"/series/{series['id']}/skip", {"at": series["next"][0]["at"]}),
    ):
        assert answer.json()["code"] == "ACCOUNT_NOT_ALLOWED"


def test_ended_series_cannot_be_changed(api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account)

    ended = api.delete(f"/series/{series['id']}").json()["series"]

    assert (ended["status"], ended["next"]) == ("ended", [])
    for answer in (
        api.delete(f"/series/{series['id']}"),
        api.request("PATCH", f"/series/{series['id']}", {"status": "active"}),
        api.post(f"/series/{series['id']}/skip", {"at": series["next"][0]["at"]}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "INVALID_STATE")


def test_stored_plan_of_a_series_is_committed_once(api: ApiClient, account: ConnectedAccount) -> None:
    plan = api.post("/plans", {"operation": "series.create", "request": series_body(account)}).json()["plan"]

    committed = api.post(f"/plans/{plan['id']}/commit")

    assert committed.status_code == 201
    series = committed.json()["series"]
    assert plan["preview"]["would_create"]["next"] == series["next"]
    assert api.post(f"/plans/{plan['id']}/commit").json()["series"]["id"] == series["id"]
    assert Series.objects.count() == 1
    result = api.get(f"/plans/{plan['id']}").json()["plan"]["result"]
    assert result == {"resource_type": "series", "resource_ids": [series["id"]]}
    assert AuditEntry.objects.get(operation="series.create", dry_run=False).metadata == {"plan_id": plan["id"]}


def test_person_commits_the_series_plan_of_an_agent(agent_client: Any, account: ConnectedAccount, owner: User) -> None:
    agent = agent_client(default_mode="requires_confirmation")
    plan = agent.post("/plans", {"operation": "series.create", "request": series_body(account)}).json()["plan"]

    series = as_user(owner).post(f"/plans/{plan['id']}/commit").json()["series"]
    run_series_loop()

    assert series["created_by"]["actor_type"] == "agent"
    assert set(PostGroup.objects.values_list("status", flat=True)) == {"pending_confirmation"}


def test_plan_hash_covers_the_rule_but_not_the_days_ahead(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    def plan_hash(**fields: Any) -> str:
        answer = api.post("/series", {**series_body(account, **fields), "dry_run": True})
        assert answer.status_code == 200
        return str(answer.json()["plan_hash"])

    first = plan_hash()
    clock.shift(3 * 24 * 3600)

    assert plan_hash() == plan_hash(name="Other") == first
    changed: list[dict[str, Any]] = [
        {"rrule": "FREQ=WEEKLY"},
        {"timezone": "UTC"},
        {"exdates": ["2027-03-20T09:00"]},
        {"post": {"text": "Other"}},
    ]
    assert len({first, *(plan_hash(**fields) for fields in changed)}) == 5
    wrong = api.post("/series", series_body(account, rrule="FREQ=WEEKLY"), plan_hash=first)
    assert (wrong.json()["code"], Series.objects.count()) == ("PLAN_CHANGED", 0)
    assert api.post("/series", series_body(account), plan_hash=first).status_code == 201


def test_repeated_request_creates_one_series(api: ApiClient, account: ConnectedAccount) -> None:
    answers = [api.post("/series", series_body(account), idempotency_key="once") for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    assert Series.objects.count() == 1


def test_reading_a_list_takes_few_statements(
    api: ApiClient, workspace: Workspace, account: ConnectedAccount, django_assert_num_queries: Any
) -> None:
    for _ in range(10):
        create_series(api, account)
    run_series_loop()

    with django_assert_num_queries(3):  # the key, the series, and their occurrences
        assert len(api.get(f"/series?workspace_id={workspace.id}").json()["series"]) == 10
