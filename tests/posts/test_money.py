"""Money is held when a group is released, settled when a target is published, and released otherwise."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.errors import ContentRejected, OutcomeUnknown
from accounts.platforms.types import Content, Published
from billing import selectors as billing
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from posts.models import PostGroup, PostTarget
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, publish_rounds, read
from tests.posts.scripted_platform import ScriptedPlatform, publish_content
from webhooks.models import Event
from workspaces.models import Workspace


def kinds() -> list[str]:
    return list(LedgerEntry.objects.order_by("id").values_list("kind", flat=True))


def month_of(workspace: Workspace) -> tuple[int, int, int]:
    """The month's held and settled cents, and URL posts."""
    row = MonthCounter.objects.filter(holder_id=workspace.id).first() or MonthCounter()
    return row.held_cents, row.settled_cents, row.url_posts


def reject(content: Content) -> Published:
    raise ContentRejected("No.")


def lose_the_answer(content: Content) -> Published:
    raise OutcomeUnknown("Nobody knows.")


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize(
    ("send", "status", "entries", "month", "cost"),
    [
        (publish_content, "published", ["hold", "settle"], (0, 1, 0), 1),
        (reject, "failed", ["hold", "release"], (0, 0, 0), 0),
        (lose_the_answer, "unconfirmed", ["hold"], (1, 0, 0), 1),
    ],
)
def test_money_follows_the_outcome(
    api: ApiClient,
    workspace: Workspace,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    monkeypatch: pytest.MonkeyPatch,
    send: Any,
    status: str,
    entries: list[str],
    month: tuple[int, int, int],
    cost: int,
) -> None:
    monkeypatch.setattr(scripted, "send", staticmethod(send))
    group = create(api, telegram_account)
    assert (kinds(), month_of(workspace)) == (["hold"], (1, 0, 0))

    run_until_idle()

    ended = read(api, group)
    assert (ended["status"], ended["cost_cents"]) == (status, cost)
    assert (kinds(), month_of(workspace)) == (entries, month)


def test_money_is_counted_in_the_month_of_the_due_time(
    api: ApiClient, telegram_account: ConnectedAccount, clock: Any
) -> None:
    create(api, telegram_account, scheduled_at="2027-03-31T23:30:00-02:00")

    assert [entry.month for entry in LedgerEntry.objects.all()] == [date(2027, 4, 1)]


@pytest.mark.parametrize("fields", [{}, {"draft": True}, {"scheduled_at": TOMORROW}])
def test_sandbox_posts_cost_nothing_and_count_for_no_cap(
    api: ApiClient, agent_client: Any, telegram_account: ConnectedAccount, clock: Any, fields: dict[str, Any]
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)
    client = agent_client(posts_per_day_cap=1, monthly_spend_cap_cents=0, monthly_social_url_post_cap=0)
    for text in ("Look at example.com", "[sandbox:reject]"):
        group = create(client, telegram_account, text=text, sandbox=True, **fields)
        assert group["cost_cents"] == 0
    publish_rounds(clock)

    assert not LedgerEntry.objects.exists()
    assert not UsageTotal.objects.exists()
    assert not DayCounter.objects.exists()


def test_a_draft_holds_nothing(api: ApiClient, telegram_account: ConnectedAccount) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)

    assert create(api, telegram_account, draft=True)["cost_cents"] == 1
    assert kinds() == []


def x_account(workspace: Workspace) -> ConnectedAccount:
    account: ConnectedAccount = AccountFactory(workspace=workspace, platform="x", sandbox=False)
    return account


def test_a_post_with_a_url_on_x_costs_more_and_counts_for_its_cap(api: ApiClient, workspace: Workspace) -> None:
    Workspace.objects.update(monthly_social_url_post_cap=1)
    account = x_account(workspace)

    assert create(api, account, text="No link")["cost_cents"] == 2
    assert create(api, account, text="See example.com")["cost_cents"] == 20
    assert month_of(workspace) == (22, 0, 1)
    answer = api.post("/posts", body_for(account, text="See example.org"))
    assert_envelope(answer, 403, "SOCIAL_URL_POST_CAP_EXCEEDED")
    ConnectedAccount.objects.update(status="needs_reauth")
    run_until_idle()  # both fail, and their room is free again
    assert month_of(workspace) == (0, 0, 0)


@pytest.mark.parametrize(
    ("platform", "texts", "cents", "url_posts"),
    [
        ("x", ["One", "Two", "Three"], 6, 0),
        ("x", ["See example.com", "Two"], 22, 1),
        ("x", ["One", "See example.com", "example.org"], 42, 2),
        ("bluesky", ["One", "See example.com", "Three"], 1, 0),
    ],
)
def test_a_thread_costs_what_the_platform_bills_for_its_segments(
    api: ApiClient, workspace: Workspace, platform: str, texts: list[str], cents: int, url_posts: int
) -> None:
    Workspace.objects.update(monthly_social_url_post_cap=url_posts)
    body = body_for(AccountFactory(workspace=workspace, platform=platform, sandbox=False), text=texts[0])
    body["targets"][0]["options"] = {"thread": [{"text": text} for text in texts[1:]]}
    assert api.post("/posts/validate", body).json()["estimated_cost_cents"] == cents

    answer = api.post("/posts", body)

    assert answer.json()["post_group"]["cost_cents"] == cents
    assert month_of(workspace) == (cents, 0, url_posts)
    if url_posts:
        assert_envelope(api.post("/posts", body), 403, "SOCIAL_URL_POST_CAP_EXCEEDED")


def test_by_default_urls_are_refused_on_x(api: ApiClient, workspace: Workspace) -> None:
    answer = api.post("/posts", body_for(x_account(workspace), text="See example.com"))

    assert_envelope(answer, 403, "SOCIAL_URL_POST_CAP_EXCEEDED")


@pytest.mark.parametrize(
    ("limits", "text", "status", "code"),
    [
        ({"monthly_spend_cap_cents": 1}, "Hello", 402, "SPEND_CAP_EXCEEDED"),
        ({"monthly_social_url_post_cap": 0}, "See example.com", 403, "SOCIAL_URL_POST_CAP_EXCEEDED"),
        ({"posts_per_day_cap": 1}, "Hello", 429, "POSTS_PER_DAY_CAP_EXCEEDED"),
    ],
)
@pytest.mark.parametrize("key", [{}, {"idempotency_key": "k"}])
def test_a_post_refused_by_a_cap_writes_nothing(
    agent_client: Any,
    workspace: Workspace,
    telegram_account: ConnectedAccount,
    limits: dict[str, int],
    text: str,
    status: int,
    code: str,
    key: dict[str, str],
) -> None:
    Workspace.objects.update(monthly_social_url_post_cap=10)
    body = body_for(telegram_account, x_account(workspace), text=text)

    answer = agent_client(**limits).post("/posts", body, **key)

    assert_envelope(answer, status, code)
    assert ("retry-after" in answer) is (status == 429)
    for model in (PostGroup, PostTarget, LedgerEntry, Event, UsageTotal):
        assert not model._default_manager.exists()
    assert sum(row.held_cents + row.url_posts for row in MonthCounter.objects.all()) == 0
    assert sum(row.targets for row in DayCounter.objects.all()) == 0
    assert run_until_idle() == 0


def test_a_refused_post_succeeds_with_the_same_key_once_there_is_money(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)
    body = body_for(telegram_account)
    assert_envelope(api.post("/posts", body, idempotency_key="k"), 402, "SPEND_CAP_EXCEEDED")
    Workspace.objects.update(monthly_spend_cap_cents=1)

    answer = api.post("/posts", body, idempotency_key="k")

    assert (answer.status_code, "idempotency-replayed" in answer) == (201, False)
    assert month_of(workspace) == (1, 0, 0)


def test_the_money_of_a_group_is_held_completely_or_not_at_all(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=2)

    assert_envelope(api.post("/posts", body_for(telegram_account, x_account(workspace))), 402, "SPEND_CAP_EXCEEDED")
    assert month_of(workspace) == (0, 0, 0)
