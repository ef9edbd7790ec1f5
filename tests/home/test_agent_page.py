"""The pages to create, view, change and stop an agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from agents.models import Agent
from auditlog.models import AuditEntry
from billing.models import DayCounter, MonthCounter
from posts.models import PostGroup
from tests import factories
from tests.conftest import ApiClient, ServeNames
from tests.fakes.name_server import Records
from tests.pages import Pages, form_of, words
from tests.posts.rows import NOON, TOMORROW, create
from workspaces.models import User, Workspace


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def pages(clock: Any, workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


@pytest.fixture
def agent(workspace: Workspace) -> Agent:
    return factories.AgentFactory(workspace=workspace, posts_per_day_cap=20, monthly_spend_cap_cents=500)


@pytest.fixture
def its_key(agent: Agent) -> ApiClient:
    return ApiClient(factories.agent_key(agent))


def made_by(pages: Pages, **typed: Any) -> Any:
    """Submit the form for a new agent with these values changed."""
    return pages.post("agent-new", {**form_of(pages.get("agent-new")), "name": "Robot", **typed})


def save(pages: Pages, agent: Agent, **typed: Any) -> Any:
    """Submit the form of the agent's settings with these values changed."""
    form = form_of(pages.get("agent", agent_id=agent.id))
    return pages.post("agent", {**form, **typed}, agent_id=agent.id)


def test_a_new_agent_needs_only_a_name(pages: Pages, workspace: Workspace, owner: User) -> None:
    made_by(pages)

    agent = Agent.objects.get()
    assert (agent.name, agent.owner_user_id, agent.default_mode) == ("Robot", owner.id, "requires_confirmation")
    assert "api_keys.write" not in agent.scopes
    assert "posts.publish" in agent.scopes
    caps = ("account_allowlist", "monthly_spend_cap_cents", "posts_per_day_cap", "webhook_url", "description")
    assert {getattr(agent, name) for name in caps} == {None}
    assert AuditEntry.objects.get(operation="agents.create").actor_id == owner.id


def test_all_fields_of_the_form_are_saved(pages: Pages, account: ConnectedAccount) -> None:
    made_by(
        pages,
        description="Tells\r\nof news",
        default_mode="draft",
        scopes=["posts.draft", "logs.read"],
        accounts_from="chosen",
        accounts=[account.id],
        monthly_spend="12.50",
        posts_per_day_cap="7",
        monthly_social_url_post_cap="0",
        rate_limit_per_minute="30",
        webhook_url="https://example.com/hook",
    )
    agent = Agent.objects.get()
    assert (agent.default_mode, agent.scopes, agent.account_allowlist) == (
        "draft",
        ["posts.draft", "logs.read"],
        [account.id],
    )
    assert (agent.monthly_spend_cap_cents, agent.posts_per_day_cap, agent.monthly_social_url_post_cap) == (1250, 7, 0)
    assert (agent.rate_limit_per_minute, agent.webhook_url) == (30, "https://example.com/hook")


def test_the_claim_token_is_shown_once_and_claims_the_key(pages: Pages, settings: Any) -> None:
    settings.BASE_URL = "https://posts.example.com"
    form = {**form_of(pages.get("agent-new")), "name": "Robot"}

    page = pages.post("agent-new", form)

    agent = Agent.objects.get()
    token = page.content.decode().partition('<code id="token">')[2].partition("<")[0]
    assert page.status_code == 200
    for shown in ("https://posts.example.com/agents/claim", "https://posts.example.com/openapi.json", agent.id):
        assert shown in words(page)
    answer = ApiClient(token).post("/agents/claim", {"claim_token": token})
    assert answer.json()["agent"]["id"] == agent.id

    again = pages.post("agent-new", form, follow=True)
    assert "This agent was already created" in words(again)
    assert token not in again.content.decode()
    assert Agent.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"name": ""}, "This field is required."),
        ({"scopes": []}, "This field is required."),
        ({"default_mode": "boundless"}, "boundless is not one of the available choices"),
        ({"accounts_from": "chosen"}, "Choose at least one account"),
        ({"accounts_from": "chosen", "accounts": ["acc_foreign"]}, "acc_foreign is not one of the available choices"),
        ({"monthly_spend": "1.005"}, "no more than 2 decimal places"),
        ({"monthly_spend": "92233720368547758.08"}, "less than or equal to"),
        ({"posts_per_day_cap": "0"}, "greater than or equal to 1"),
        ({"rate_limit_per_minute": "601"}, "At most 600 requests a minute."),
        ({"webhook_url": "http://10.0.0.1/"}, "Events cannot be sent to this address"),
    ],
    ids=str,
)
def test_an_invalid_form_is_shown_again_with_errors(pages: Pages, typed: dict[str, Any], message: str) -> None:
    page = made_by(pages, description="Kept", **typed)
    assert page.status_code == 422
    assert message in words(page)
    assert form_of(page)["description"] == "Kept"
    assert not Agent.objects.exists()


def test_only_the_changed_field_is_saved(pages: Pages, agent: Agent) -> None:
    assert save(pages, agent, posts_per_day_cap="3", monthly_spend="").status_code == 303

    changed = Agent.objects.get()
    assert (changed.posts_per_day_cap, changed.monthly_spend_cap_cents) == (3, None)
    entry = AuditEntry.objects.get(operation="agents.update")
    assert entry.metadata["changed"] == ["monthly_spend_cap_cents", "posts_per_day_cap"]


def test_an_unchanged_form_writes_nothing(pages: Pages, agent: Agent, account: ConnectedAccount) -> None:
    Agent.objects.update(account_allowlist=[account.id, "acc_of_old"], webhook_url="https://example.com/")
    save(pages, agent)
    assert not AuditEntry.objects.exists()
    assert Agent.objects.get().account_allowlist == [account.id, "acc_of_old"]


def test_a_limit_above_the_maximum_is_shown_as_the_maximum_and_blocks_no_change(pages: Pages, agent: Agent) -> None:
    Agent.objects.update(rate_limit_per_minute=5000)

    assert form_of(pages.get("agent", agent_id=agent.id))["rate_limit_per_minute"] == "600"
    assert save(pages, agent, name="Renamed").status_code == 303
    assert Agent.objects.values_list("name", "rate_limit_per_minute").get() == ("Renamed", 5000)


def test_concurrent_changes_by_others_are_not_overwritten(pages: Pages, agent: Agent) -> None:
    """One person opens the agent, another stops it, the first saves a new name: the agent stays stopped."""
    form = form_of(pages.get("agent", agent_id=agent.id))
    pages.post("agent-stop", agent_id=agent.id)

    pages.post("agent", {**form, "name": "Renamed"}, agent_id=agent.id)

    assert Agent.objects.values_list("name", "default_mode").get() == ("Renamed", "dry_run")


def test_the_allowlist_can_be_removed_and_set(pages: Pages, agent: Agent, account: ConnectedAccount) -> None:
    save(pages, agent, accounts_from="chosen", accounts=[account.id])
    assert Agent.objects.get().account_allowlist == [account.id]
    save(pages, agent, accounts_from="all")
    assert Agent.objects.get().account_allowlist is None


def test_an_invalid_webhook_address_shows_an_error_at_its_field(pages: Pages, agent: Agent) -> None:
    page = save(pages, agent, webhook_url="https://10.0.0.1/", name="Kept")
    assert page.status_code == 422
    assert "Events cannot be sent to this address" in words(page)
    assert form_of(page)["name"] == "Kept"
    refused = AuditEntry.objects.get(operation="agents.update")
    assert (refused.outcome, refused.code) == ("refused", "WEBHOOK_URL_NOT_ALLOWED")


def test_a_host_with_a_private_address_is_refused_in_both_forms(pages: Pages, agent: Agent, name_server: ServeNames) -> None:
    name_server(lambda name: Records(["10.0.0.1"]))

    for page in (
        save(pages, agent, webhook_url="https://inside.example.com/"),
        made_by(pages, webhook_url="https://inside.example.com/"),
    ):
        assert page.status_code == 422
        assert "Events cannot be sent to this address" in words(page)
    assert Agent.objects.get().webhook_url == agent.webhook_url


def test_the_page_shows_usage_posts_and_log(
    pages: Pages, agent: Agent, its_key: ApiClient, account: ConnectedAccount
) -> None:
    create(its_key, account, text="From the robot", scheduled_at=TOMORROW)
    its_key.delete("/accounts/acc_00000000000000000000000000")
    MonthCounter.objects.update_or_create(
        holder_id=agent.id,
        month=NOON.date().replace(day=1),
        defaults={"settled_cents": 120, "held_cents": 30, "url_posts": 4},
    )
    DayCounter.objects.create(agent_id=agent.id, day=NOON.date(), targets=6)

    shown = words(pages.get("agent", agent_id=agent.id))

    assert "$1.20 spent, $0.30 held for what is scheduled of $5.00" in shown
    assert "$1.50 spent or reserved this month" in shown
    assert "With a link 4" in shown
    assert "Today 6 of 20" in shown
    assert "Scheduled From the robot" in shown
    assert "posts.create" in shown
    assert "NOT_FOUND" in shown


def test_stopping_allows_only_dry_runs_and_cancels_scheduled_posts(
    pages: Pages, agent: Agent, its_key: ApiClient, api: ApiClient, account: ConnectedAccount
) -> None:
    theirs = create(its_key, account, scheduled_at=TOMORROW)
    others = create(api, account, scheduled_at=TOMORROW)
    page = pages.get("agent", agent_id=agent.id)
    form = form_of(page, pages.address("agent-stop", agent_id=agent.id))

    message = pages.post("agent-stop", form, follow=True, agent_id=agent.id)

    assert "Robot is stopped" in words(message)
    assert "Cancelled scheduled posts: 1." in words(message)
    assert PostGroup.objects.get(pk=theirs["id"]).status == "cancelled"
    assert PostGroup.objects.get(pk=others["id"]).status == "scheduled"
    target = {"platform": account.platform, "connected_account_id": account.id}
    assert its_key.post("/posts", {"text": "More", "targets": [target]}).json()["dry_run"] is True


def test_stopping_can_leave_scheduled_posts(
    pages: Pages, agent: Agent, its_key: ApiClient, account: ConnectedAccount
) -> None:
    group = create(its_key, account, scheduled_at=TOMORROW)
    pages.post("agent-stop", agent_id=agent.id)
    assert Agent.objects.get().default_mode == "dry_run"
    assert PostGroup.objects.get(pk=group["id"]).status == "scheduled"


@pytest.mark.parametrize("fields", [{"default_mode": "dry_run"}, {"status": "revoked"}], ids=str)
def test_posts_of_a_stopped_agent_can_still_be_cancelled(
    pages: Pages, agent: Agent, its_key: ApiClient, account: ConnectedAccount, fields: dict[str, str]
) -> None:
    group = create(its_key, account, scheduled_at=TOMORROW)
    Agent.objects.update(**fields)
    page = pages.get("agent", agent_id=agent.id)

    pages.post("agent-stop", form_of(page, pages.address("agent-stop", agent_id=agent.id)), agent_id=agent.id)

    assert PostGroup.objects.get(pk=group["id"]).status == "cancelled"
    assert not AuditEntry.objects.filter(operation="agents.update").exists()


def test_only_owners_and_admins_create_or_change_agents(
    workspace: Workspace, owner: User, teammate: User, stranger: User, agent: Agent
) -> None:
    form = form_of(Pages(workspace, owner).get("agent", agent_id=agent.id)) | {"name": "Taken over", "key": "k"}
    member, foreign = Pages(workspace, teammate), Pages(workspace, stranger)
    forged = Pages(workspace, owner, csrf=True)

    assert member.post("agent", form, agent_id=agent.id).status_code == 403
    assert member.post("agent-new", form).status_code == 303
    for address in (member.address("agent", agent_id=agent.id), member.address("agent-new")):
        assert foreign.http.get(address).status_code == foreign.http.post(address, form).status_code == 404
        assert forged.http.post(address, {**form, "csrfmiddlewaretoken": ""}).status_code == 403

    assert list(Agent.objects.values_list("name", flat=True)) == ["Robot"]


def test_the_page_needs_few_queries(
    pages: Pages,
    agent: Agent,
    its_key: ApiClient,
    account: ConnectedAccount,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(6):
        create(its_key, account, text=f"Post {number}", scheduled_at=TOMORROW)
    with django_assert_max_num_queries(19):
        page = pages.get("agent", agent_id=agent.id)
    assert page.content.decode().count('class="platform-mark"') == 5  # the latest
    assert len(page.content) < 100_000
