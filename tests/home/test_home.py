"""The home page: what needs attention, next posts, spending and activity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags
from pytest_django import DjangoAssertNumQueries

from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from auditlog.models import AuditEntry
from billing.models import MonthCounter
from config.home.activity import ACTIVITY_PHRASES
from posts.models import PostGroup
from posts.states import GroupStatus
from tests.conftest import ApiClient
from tests.contract.operations import OPERATIONS
from tests.factories import AccountFactory, UserFactory, workspace_key
from tests.people import sign_in_here
from tests.posts.rows import NOON, TOMORROW, create, fail_as_missed, group_with_target
from tests.webhooks.rows import emit
from webhooks.models import Delivery
from workspaces.models import User, Workspace

# Operations that leave no entry in a workspace's log: reads by POST, and those of the processor and of users.
NOT_OF_A_WORKSPACE = {"posts.validate", "billing.receive_event", "users.delete"}
NEWEST_OF_EACH = ("Waits", "Failed", "Half out", "Not known")


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    sign_in_here(client, owner)
    return client


def home(browser: Client, workspace: Workspace) -> str:
    answer = browser.get(f"/dashboard/workspaces/{workspace.id}")
    assert answer.status_code == 200
    return answer.content.decode()


def group(workspace: Workspace, text: str, status: str) -> PostGroup:
    who = {"created_by_type": "user", "created_by_id": "usr_x", "trace_id": "0" * 32}
    return PostGroup.objects.create(workspace=workspace, text=text, status=status, **who)


def test_an_empty_workspace_shows_the_next_step(browser: Client, workspace: Workspace) -> None:
    text = home(browser, workspace)
    assert "Nothing needs your attention" in text
    assert f"/dashboard/workspaces/{workspace.id}/compose" in text
    assert "Connect an account" in text


def test_posts_that_need_a_person_are_shown_first(browser: Client, workspace: Workspace, account: ConnectedAccount) -> None:
    statuses = (GroupStatus.PENDING_CONFIRMATION, GroupStatus.FAILED, GroupStatus.PARTIAL, GroupStatus.UNCONFIRMED)
    groups = [group(workspace, text, status) for text, status in zip(NEWEST_OF_EACH, statuses, strict=True)]
    group(workspace, "Went out well", GroupStatus.PUBLISHED)
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")

    text = home(browser, workspace)
    needs, _, rest = text.partition('id="this-week"')

    assert all(said in needs for said in (*NEWEST_OF_EACH, account.handle))
    assert all(f"/posts/{each.id}" in needs for each in groups[1:])
    assert "Went out well" not in needs
    assert 'aria-label="1 waiting"' in text
    assert "Nothing needs your attention" not in needs
    assert rest


def test_upcoming_posts_and_spending_are_shown(
    clock: Any, browser: Client, workspace: Workspace, api: ApiClient, account: ConnectedAccount
) -> None:
    create(api, account, text="Tomorrow's post", scheduled_at=TOMORROW)
    counter = {"held_cents": 15, "settled_cents": 70}
    MonthCounter.objects.update_or_create(holder_id=workspace.id, month=NOON.date().replace(day=1), defaults=counter)

    text = home(browser, workspace)

    assert "Tomorrow&#x27;s post" in text.partition('id="next"')[2]
    assert "$0.70</strong> spent, $0.15 reserved for scheduled posts of $1.00" in " ".join(text.split())
    assert "$0.85 of this month&#x27;s $1.00 is spent or reserved" in " ".join(text.split())


@pytest.mark.parametrize(
    ("missed", "sentence"),
    [
        (1, "1 post has missed its time, because the service was down or stopped. Send it now, or leave it."),
        (2, "2 posts have missed their times, because the service was down or stopped. Send them now, or leave them."),
    ],
)
def test_missed_posts_are_counted_and_linked_in_one_entry(
    clock: Any, browser: Client, workspace: Workspace, api: ApiClient, account: ConnectedAccount, missed: int, sentence: str
) -> None:
    for number in range(missed):
        fail_as_missed(create(api, account, text=f"Missed {number}", scheduled_at=TOMORROW)["id"])

    needs = home(browser, workspace).partition('id="this-week"')[0]

    assert sentence in needs
    assert needs.count(f'href="/dashboard/workspaces/{workspace.id}/missed"') == 1
    assert "Missed 0" not in needs


def test_given_up_webhooks_and_ending_keys_need_a_person(browser: Client, workspace: Workspace) -> None:
    workspace_key(workspace)
    workspace_key(workspace)
    ending = workspace.api_keys.order_by("pk")[0]
    workspace.api_keys.filter(pk=ending.pk).update(name="Newsletter", expires_at=timezone.now() + timedelta(days=3))
    for status in ("dead_letter", "dead_letter", "delivered"):
        event = emit(workspace, "https://gone.example/", at=timezone.now())
        Delivery.objects.filter(event=event).update(status=status, due_at=None)

    needs = home(browser, workspace).partition('id="this-week"')[0]

    assert "2 webhook deliveries were given up this week." in needs
    assert f'/dashboard/workspaces/{workspace.id}/webhooks?status=dead_letter"' in needs
    assert needs.count(" ends soon.") == 1
    assert "The API key “Newsletter” ends soon." in needs


@pytest.mark.parametrize(
    ("ends_in_days", "renewed_after_days", "failures", "named"),
    [
        (3, 3, 0, True),  # the platform has refused new tokens
        (3, None, 0, True),
        (3, 2, 0, False),  # they are renewed in time
        (3, 4, 1, False),  # the renewal is tried again after a failure
        (8, 8, 0, False),
        (-1, -1, 0, False),
    ],
)
def test_accounts_whose_access_ends_and_cannot_be_renewed_need_a_person(
    browser: Client, workspace: Workspace, ends_in_days: int, renewed_after_days: int | None, failures: int, named: bool
) -> None:
    now = timezone.now()
    refresh_at = None if renewed_after_days is None else now + timedelta(days=renewed_after_days)
    ending = {"token_expires_at": now + timedelta(days=ends_in_days), "refresh_at": refresh_at, "refresh_failures": failures}
    account = AccountFactory(workspace=workspace, platform="linkedin", handle="Pat Doe", **ending)
    AccountFactory(workspace=workspace, platform="linkedin", handle="Lost", status="needs_reauth", **ending)

    needs = needs_section(browser, workspace)

    assert ("LinkedIn account Pat Doe: its access ends soon. Connect it again before then." in needs) is named
    assert (f'href="/dashboard/workspaces/{workspace.id}/accounts/connect/linkedin"' in needs) is named
    assert ("Ends soon" in needs) is named
    assert account.access_cannot_be_renewed is (failures == 0 and renewed_after_days in (None, ends_in_days))


def test_this_week_shows_its_posts_with_the_marks_of_their_platforms(
    clock: Any, browser: Client, workspace: Workspace, api: ApiClient, account: ConnectedAccount
) -> None:
    post = create(api, account, text="Tomorrow's post", scheduled_at=TOMORROW)

    week = home(browser, workspace).partition('id="this-week"')[2].partition('id="next"')[0]

    assert week.count("<h3>") == 7
    assert week.partition('aria-current="date"')[2].partition("</h3>")[0].count(f"date={NOON.date()}") == 1
    assert f'/posts/{post["id"]}"' in week
    assert f'aria-label="{get_adapter(account.platform).label}"' in week


@pytest.mark.parametrize("part", ["this-week", "next"])
def test_posts_have_the_pictures_of_their_accounts(
    clock: object, browser: Client, workspace: Workspace, api: ApiClient, account: ConnectedAccount, part: str
) -> None:
    create(api, account, scheduled_at=TOMORROW)
    ConnectedAccount.objects.update(avatar_digest="0123456789abcdef")
    shown = home(browser, workspace).partition(f'id="{part}"')[2].partition("</section>")[0]
    picture = f"/dashboard/workspaces/{workspace.id}/accounts/{account.id}/avatar/0123456789abcdef"
    assert f'src="{picture}" alt="{account.handle}"' in shown
    assert f'aria-label="{get_adapter(account.platform).label}"' in shown


def test_what_needs_a_person_has_the_pictures_of_its_accounts(
    browser: Client, workspace: Workspace, account: ConnectedAccount, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    lost = AccountFactory(workspace=workspace, handle="@lost", status="needs_reauth", avatar_digest="fedcba9876543210")
    failed = group_with_target(workspace, None, "failed", text="Failed")
    failed.targets.update(account=account, platform=account.platform)
    ConnectedAccount.objects.filter(pk=account.pk).update(avatar_digest="0123456789abcdef")
    home(browser, workspace)  # fills the caches

    with CaptureQueriesContext(connection) as queries:
        shown = needs_section(browser, workspace)

    pictures = re.findall(r'<img class="avatar" src="([^"]+)" alt="([^"]*)"[^>]*><svg class="platform-mark"', shown)
    own = f"/dashboard/workspaces/{workspace.id}/accounts"
    assert pictures == [
        (f"{own}/{lost.id}/avatar/fedcba9876543210", "@lost"),
        (f"{own}/{account.id}/avatar/0123456789abcdef", account.handle),
    ]

    for number in range(3):
        other = AccountFactory(workspace=workspace, avatar_digest=f"{number:016}", status="needs_reauth")
        group_with_target(workspace, None, "failed").targets.update(account=other)
    with django_assert_num_queries(len(queries)):
        shown = needs_section(browser, workspace)
    assert shown.count('<img class="avatar"') == 8


def needs_section(browser: Client, workspace: Workspace) -> str:
    return home(browser, workspace).partition('id="needs"')[2].partition("</section>")[0]


def test_activity_is_told_in_sentences_and_repeated_deeds_are_counted(
    browser: Client, workspace: Workspace, owner: User
) -> None:
    who = {"actor_type": "user", "actor_id": owner.id, "retention_tier": "free", "trace_id": "0" * 32}
    for operation, outcome in (
        ("media.upload", "succeeded"),
        *[("posts.create", "succeeded")] * 3,
        ("posts.retry", "refused"),
    ):
        AuditEntry.objects.create(workspace_id=workspace.id, operation=operation, outcome=outcome, **who)
    AuditEntry.objects.create(workspace_id=workspace.id, operation="posts.cancel", outcome="succeeded", dry_run=True, **who)

    activity = home(browser, workspace).partition('id="activity"')[2].partition("</ul>")[0]

    told = [" ".join(strip_tags(row.partition("<time")[0]).split()) for row in activity.split('<span class="text">')[1:]]
    assert told == [
        f"{owner} was not allowed to send a post again",
        f"{owner} created a post 3 times",
        f"{owner} uploaded a file",
    ]


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({}, "ada@example.org"),
        ({"display_name": "Ada"}, "Ada"),
        ({"username": "ada"}, "ada"),
        pytest.param({"is_staff": True}, "", id="an operator"),
        pytest.param({"is_active": False}, "", id="erased"),
    ],
)
def test_activity_of_a_person_without_a_name_has_the_email_address(
    browser: Client, workspace: Workspace, named: dict[str, Any], shown: str
) -> None:
    person = UserFactory(email="ada@example.org")
    User.objects.filter(pk=person.pk).update(**{"username": person.pk, "display_name": ""} | named)
    who = {"actor_type": "user", "actor_id": person.id, "retention_tier": "free", "trace_id": "0" * 32}
    AuditEntry.objects.create(workspace_id=workspace.id, operation="posts.create", outcome="succeeded", **who)

    activity = home(browser, workspace).partition('id="activity"')[2].partition("</ul>")[0]

    assert f"<strong>{shown or person.pk}</strong>" in activity
    assert shown == "ada@example.org" or "ada@example.org" not in activity


def test_only_those_who_write_posts_are_told_the_key_for_a_new_one(
    browser: Client, workspace: Workspace, teammate: User
) -> None:
    viewer = Client()
    sign_in_here(viewer, teammate)

    assert "<kbd>n</kbd> a new post" in home(browser, workspace)
    assert "<kbd>n</kbd>" not in home(viewer, workspace)
    assert "<kbd>j</kbd>" in home(viewer, workspace)


def test_every_write_of_members_has_words_for_the_activity() -> None:
    writes = {row.name for row in OPERATIONS if row.method != "GET" and not row.operator}

    assert writes - NOT_OF_A_WORKSPACE - set(ACTIVITY_PHRASES) == set()


def test_the_page_needs_few_queries(
    browser: Client, workspace: Workspace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for status in (GroupStatus.FAILED, GroupStatus.PENDING_CONFIRMATION) * 5:
        group(workspace, "Some text", status)
    with django_assert_max_num_queries(26):
        home(browser, workspace)
