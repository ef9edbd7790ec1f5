"""The buttons on the page of a failed post follow the error, and only the one that helps is primary."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup, PostTarget
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, fields, typed, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace


def steps(page: Any) -> list[tuple[str, str]]:
    """The buttons of the card that says what to do: "primary" or an empty string, and the label."""
    card = page.content.decode().partition('<h2 id="next">')[2].partition("</section>")[0]
    found = re.findall(r"<(?:button|a)([^>]*)>([^<]+)</(?:button|a)>", card)
    return [("primary" if "primary" in attributes else "", label) for attributes, label in found]


def publish_rounds_until_failed(clock: Any, group: dict[str, Any]) -> None:
    """Publish a group with targets at several times until one of them has failed."""
    failed = PostTarget.objects.filter(group=group["id"], status="failed")
    for _ in range(20):
        if failed.exists():
            return
        due = PostTarget.objects.filter(due_at__isnull=False).order_by("due_at").values_list("due_at", flat=True)[0]
        clock.move_to(max(due or datetime.now(UTC), datetime.now(UTC)))
        run_until_idle()
    raise AssertionError("No target has failed.")


def create_failed(api: ApiClient, clock: Any, *accounts: ConnectedAccount, texts: list[str]) -> dict[str, Any]:
    group = create(api, *accounts, texts=texts)
    publish_rounds(clock)
    return group


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[sandbox:reject]", [("primary", "Fix and send again"), ("", "Send again unchanged")]),
        ("[sandbox:reauth]", [("primary", "Reconnect Bluesky")]),
        ("[sandbox:outage]", [("primary", "Try again")]),
        ("[sandbox:rate_limit]", [("primary", "Try again")]),
    ],
)
def test_the_primary_button_follows_the_error(
    dashboard: Dashboard,
    api: ApiClient,
    account: ConnectedAccount,
    clock: Any,
    text: str,
    expected: list[tuple[str, str]],
) -> None:
    group = create_failed(api, clock, account, texts=[text])

    assert steps(dashboard.get("post", group)) == expected
    assert dashboard.get("post", group).content.decode().count(' class="primary"') <= 1


def test_a_failed_account_has_its_button_before_the_other_accounts_have_their_times(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    targets = [{"platform": each.platform, "connected_account_id": each.id} for each in accounts[:2]]
    targets[0] |= {"text": "[sandbox:outage]"}
    targets[1] |= {"scheduled_at": "2027-03-12T12:00:00Z"}
    group = api.post("/posts", {"text": "Hello", "targets": targets}).json()["post_group"]
    publish_rounds_until_failed(clock, group)

    assert steps(dashboard.get("post", group)) == [("primary", "Try again")]
    dashboard.post("post-retry", group)

    assert read(api, group)["targets"][0]["status"] == "pending"


def test_several_errors_have_several_buttons(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    texts = ["[sandbox:reauth]", "[sandbox:reject]", "[sandbox:outage]"]
    group = create_failed(api, clock, *accounts, texts=texts)

    page = dashboard.get("post", group)

    assert steps(page) == [("primary", "Reconnect Bluesky"), ("", "Fix and send again"), ("", "Try again")]
    assert "Mastodon did not accept the post. The same post would be refused again" in words(page)


def test_a_reconnected_account_is_tried_again(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create_failed(api, clock, account, texts=["[sandbox:reauth]"])
    assert f'href="{dashboard.address("accounts")}/{account.id}"' in dashboard.get("post", group).content.decode()
    ConnectedAccount.objects.update(last_checked_at=datetime.now(UTC) + timedelta(seconds=1))  # as connecting it does

    assert steps(dashboard.get("post", group)) == [("primary", "Try again")]
    assert dashboard.post("post-retry", group).status_code == 303
    clock.shift(12)
    assert run_until_idle() >= 1


def test_a_real_account_is_reconnected_on_the_page_of_its_platform(
    dashboard: Dashboard, api: ApiClient, workspace: Workspace, clock: Any
) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False, status="needs_reauth")
    group = create(api, real, draft=True)
    group_row = PostGroup.objects.get()
    group_row.targets.update(status="failed", error={"code": "ACCOUNT_NEEDS_REAUTH", "message": "", "suggested_action": ""})
    PostGroup.objects.update(status="failed")

    assert f"/accounts/connect/{real.platform}" in dashboard.get("post", group).content.decode()


def test_fixing_opens_a_copy_for_the_accounts_that_failed(
    dashboard: Dashboard, api: ApiClient, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create_failed(api, clock, *accounts[:2], texts=["It works", "[sandbox:reject] no"])
    key = fields(dashboard.get("post", group), "key")[0]

    answers = [dashboard.post("post-fix", group, key=key)["location"] for _ in range(2)]

    draft = PostGroup.objects.get(status="draft")
    assert answers == [f"{dashboard.address('post-edit', draft)}?fix=text"] * 2
    assert [(target.account_id, target.text) for target in draft.targets.all()] == [
        (accounts[1].id, "[sandbox:reject] no"),
    ]
    page = dashboard.get("post-edit", draft, fix="text")
    focused = re.compile(rf'<textarea id="text-{accounts[1].id}"[^>]* autofocus>')
    assert focused.search(page.content.decode())
    assert not focused.search(dashboard.get("post-edit", draft).content.decode())
    assert typed(page, f"text-{accounts[1].id}") == "[sandbox:reject] no"
    assert "This is a copy for the accounts where the post failed." in words(page)


def test_the_fixed_copy_of_a_simulated_post_stays_simulated(
    dashboard: Dashboard, api: ApiClient, workspace: Workspace, clock: Any
) -> None:
    real = AccountFactory(workspace=workspace, sandbox=False)
    group = create(api, real, text="[sandbox:reject]", sandbox=True)
    publish_rounds(clock)

    dashboard.post("post-fix", group, key="k")

    assert PostGroup.objects.get(status="draft").sandbox


def test_a_post_that_has_not_failed_is_not_fixed(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account)
    run_until_idle()

    page = dashboard.http.post(dashboard.address("post-fix", group), {"key": "k"}, follow=True)

    assert "The post has not failed at any account." in words(page)
    assert PostGroup.objects.count() == 1


def test_a_post_that_may_be_out_has_no_primary_button(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    group = create_failed(api, clock, account, texts=["[sandbox:unknown]"])

    page = dashboard.get("post", group)

    assert steps(page) == []
    assert 'class="primary"' not in page.content.decode().partition("<main")[2]
    assert "Is it out?" in words(page)
