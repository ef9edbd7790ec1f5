"""Notices by e-mail: which occurrences are reported, and the text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
import time_machine
from cryptography.fernet import Fernet
from django.core.mail import EmailMultiAlternatives
from django.test import Client

from accounts.models import ConnectedAccount
from accounts.services.tokens import mark_needs_reauth_unless_renewed
from agents.models import ApiKey
from config.notices.sending import create_and_queue_notices
from tests import factories
from tests.conftest import ApiClient
from tests.fakes.receiver import Receiver
from tests.notices.rounds import decision_url, ended, real_account, scheduled, send_emails, subjects
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, create
from tests.webhooks.sending import deliver_until_idle
from workspaces.models import User, Workspace

pytestmark = pytest.mark.django_db
LATER = timedelta(minutes=10)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture(autouse=True)
def begun(clock: time_machine.Traveller) -> None:
    """Create the cursors, as in a service that has been running."""
    create_and_queue_notices()
    clock.shift(timedelta(hours=1))


@pytest.fixture
def bluesky(workspace: Workspace) -> ConnectedAccount:
    return real_account(workspace)


def test_a_post_that_waits_for_approval_is_reported(
    workspace: Workspace, bluesky: ConnectedAccount, agent_client: Any
) -> None:
    group = scheduled(agent_client(default_mode="requires_confirmation"), bluesky)
    [message] = send_emails()

    assert message.subject == "A post waits for approval in Workshop"
    assert message.to == [workspace.owner_user.email]
    assert (
        "- To Bluesky, for 17 Mar 2027, 12:00 (UTC), created 10 Mar 2027, 13:00 (UTC)\n"
        f"  Plan {group['plan_hash'][:19]}…\n"
        f"  Approve: {decision_url(group, 'approve')}\n  Reject: {decision_url(group, 'reject')}\n"
    ) in message.body
    assert f"http://127.0.0.1:8000/dashboard/workspaces/{workspace.id}/approvals\n" in message.body
    assert f"http://127.0.0.1:8000/dashboard/workspaces/{workspace.id}/settings/notices\n" in message.body
    assert "\nApprove or reject each post before its time." in message.body
    [(content, kind)] = cast(EmailMultiAlternatives, message).alternatives
    page = cast(str, content)
    assert (kind, f"Plan {group['plan_hash'][:19]}…" in page, group["approval_url"] in page) == ("text/html", True, True)
    assert decision_url(group, "reject").replace("&", "&amp;") in page
    assert "Nobody may read" not in f"{message.body}{page}"
    assert send_emails() == []


def test_a_failed_post_is_reported(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    group = scheduled(api, bluesky)
    clock.move_to(datetime(2027, 3, 19, 12, tzinfo=UTC))  # too late: nobody was there to publish it
    assert run_until_idle() == 1
    [message] = send_emails()

    assert message.subject == "A post of Workshop failed"
    assert f"/dashboard/workspaces/{workspace.id}/posts/{group['id']}\n" in message.body
    assert "Nobody may read" not in message.body
    assert send_emails() == []


@pytest.mark.parametrize(
    ("status", "subject"),
    [
        ("unconfirmed", "A post of Workshop may or may not be published"),
        ("partial", "A post of Workshop failed on some of its accounts"),
        ("cancelled", None),
    ],
)
def test_the_email_describes_the_outcome_of_a_post(
    api: ApiClient, bluesky: ConnectedAccount, status: str, subject: str | None
) -> None:
    ended(scheduled(api, bluesky), status)

    assert subjects() == ([subject] if subject else [])


def test_an_account_is_reported_each_time_it_has_to_be_reconnected(
    workspace: Workspace, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    mark_needs_reauth_unless_renewed(account_id=bluesky.id, stale=bluesky.decrypted_grant())
    [message] = send_emails()
    clock.shift(timedelta(days=1))
    still = send_emails()
    ConnectedAccount.objects.update(status="active")
    bluesky.refresh_from_db()
    mark_needs_reauth_unless_renewed(account_id=bluesky.id, stale=bluesky.decrypted_grant())

    assert message.subject == "An account of Workshop has to be reconnected"
    assert "- Bluesky: alice.test\n" in message.body
    assert f"/dashboard/workspaces/{workspace.id}/accounts\n" in message.body
    assert still == []
    assert subjects() == ["An account of Workshop has to be reconnected"]


def test_an_account_with_undecryptable_secrets_is_reported_once(
    api: ApiClient, workspace: Workspace, clock: time_machine.Traveller, settings: Any
) -> None:
    sealed = real_account(workspace, credentials={"app_password": "x"})
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert api.get(f"/accounts/{sealed.id}/status").status_code == 200
    first = send_emails()
    clock.shift(timedelta(days=1))
    assert api.get(f"/accounts/{sealed.id}/status").status_code == 200

    assert (len(first), send_emails()) == (1, [])


def test_a_dead_letter_is_reported_again_after_a_failed_replay(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller, settings: Any
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with Receiver(otherwise=410) as receiver:
        scheduled(api, bluesky, webhook_url=f"{receiver.url}/hook?secret=1")
        deliver_until_idle()
        [message] = send_emails()
        clock.shift(LATER)
        [delivery] = api.get(f"/webhooks/deliveries?workspace_id={workspace.id}").json()["deliveries"]
        assert api.post(f"/webhooks/deliveries/{delivery['id']}/replay").status_code == 200
        deliver_until_idle()
        again = subjects()

    assert message.subject == "A webhook delivery of Workshop was given up"
    assert f"- post.scheduled to 127.0.0.1:{receiver.port}, last answer 410\n" in message.body
    assert f"/dashboard/workspaces/{workspace.id}/webhooks\n" in message.body
    assert "secret=1" not in message.body
    assert again == [message.subject]


def test_a_budget_is_reported_at_80_and_100_percent(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, clock: time_machine.Traveller
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=4, monthly_spend_cap_cents=1)
    for _ in range(3):
        scheduled(api, bluesky)
    before = send_emails()
    scheduled(api, bluesky)
    [message] = send_emails()
    clock.shift(LATER)
    same = send_emails()
    scheduled(api, bluesky)
    [all_of_it] = send_emails()
    Workspace.objects.update(monthly_spend_cap_cents=2)
    clock.shift(LATER)

    assert before == same == []
    assert message.subject == "80 % of the budget of Workshop for March 2027 is used"
    assert "- March 2027: $0.04 of $0.05 is spent or reserved for scheduled posts\n" in message.body
    assert f"/dashboard/workspaces/{workspace.id}/usage\n" in message.body
    assert all_of_it.subject == "All of the budget of Workshop for March 2027 is used"
    assert subjects() == ["83 % of the budget of Workshop for March 2027 is used"]  # of the new one


def test_an_unpaid_budget_is_the_free_credit(
    workspace: Workspace, api: ApiClient, bluesky: ConnectedAccount, settings: Any
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=1, monthly_spend_cap_cents=1000)
    scheduled(api, bluesky)
    free_beta = send_emails()
    settings.STRIPE_SECRET_KEY = "sk_test_x"

    assert free_beta == []
    assert subjects() == ["All of the budget of Workshop for March 2027 is used"]


def test_nothing_in_the_sandbox_is_reported(
    workspace: Workspace, account: ConnectedAccount, agent_client: Any, api: ApiClient, settings: Any
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with Receiver(otherwise=410) as receiver:
        create(agent_client(default_mode="requires_confirmation"), account)
        create(api, account, text="[sandbox:reject]", webhook_url=receiver.url)
        create(api, real_account(workspace), text="[sandbox:unknown]", sandbox=True)
        run_until_idle()
        deliver_until_idle()
    mark_needs_reauth_unless_renewed(account_id=account.id, stale=account.decrypted_grant())

    assert send_emails() == []


def test_a_key_used_from_another_network_is_reported(
    workspace: Workspace, teammate: User, clock: time_machine.Traveller
) -> None:
    token = factories.workspace_key(workspace)
    used_from(token, "203.0.113.7")
    first = send_emails()
    used_from(token, "198.51.100.7")
    [message] = send_emails()
    used_from(token, "198.51.100.99")
    clock.shift(timedelta(days=1))
    known = send_emails()
    used_from(token, "2001:db8::1")

    assert first == known == []
    assert message.subject == "An API key of Workshop was used from another network"
    assert message.to == [workspace.owner_user.email]
    assert f"- A key ({token[:12]}…): 198.51.100.0/24, 10 Mar 2027, 13:00 (UTC)\n" in message.body
    assert f"/dashboard/workspaces/{workspace.id}/api-keys\n" in message.body
    assert token not in message.body
    assert subjects() == [message.subject]


def test_a_key_that_was_revoked_meanwhile_is_not_reported(workspace: Workspace) -> None:
    tokens = [factories.workspace_key(workspace) for _ in range(3)]
    for token in tokens:
        used_from(token, "203.0.113.7")
        used_from(token, "198.51.100.7")
    ApiKey.objects.filter(prefix=tokens[0][:12]).update(revoked_at=NOON)

    assert subjects() == ["2 API keys of Workshop were used from other networks"]


def used_from(token: str, address: str) -> None:
    """Send a request with the key from this address."""
    answer = Client(headers={"authorization": f"Bearer {token}"}, REMOTE_ADDR=address).get("/capabilities")
    assert answer.status_code == 200
