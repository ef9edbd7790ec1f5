"""Notices in a browser: choosing them, the channels to which they are sent, and the decisions to which they link."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.full_workspace import APP_PASSWORD, connect_bluesky
from tests.browser.page_checks import PageChecker
from tests.browser.received_mail import content, next_email
from tests.browser.service import Service, Workspace
from tests.browser.ways_of_use import MOUSE, NO_SCRIPTS, WayOfUse, in_every_way
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.receiver import Receiver
from tests.fakes.slack import FakeSlack
from tests.fakes.smtp import FakeMailServer
from tests.fakes.telegram import FakeTelegram
from tests.until import wait_until


def ask_for_approval(workspace: Workspace, bluesky: FakeBluesky) -> dict[str, Any]:
    """Have an agent make a post for next week to an account that is no sandbox account; return the post, which waits."""
    handle = f"{workspace.id.replace('_', '-')}.test"
    bluesky.add_account(handle, APP_PASSWORD)
    _, key = workspace.new_agent("Desk agent")
    next_week = (datetime.now(UTC) + timedelta(days=7)).isoformat()
    return workspace.post("May I?", connect_bluesky(workspace, handle), token=key, scheduled_at=next_week)


def channel_form(page: Page, kind: str) -> Locator:
    return page.locator("form", has=page.get_by_role("button", name=f"Add the channel {kind}"))


def expect_result(shown: Locator, way: WayOfUse) -> None:
    """Wait until the page shows the result of a message; without scripts, a person has to reload it."""
    if way is NO_SCRIPTS:
        wait_until(lambda: bool(shown.page.reload()) and shown.is_visible())
    expect(shown).to_be_visible()


@in_every_way
def test_notices_are_chosen_and_a_channel_is_added_tested_paused_and_removed(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker, way: WayOfUse
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/settings/notices", **way.options)
    way.uncheck(page.get_by_label("80 % or all of a month's budget is used"))
    way.press(page.get_by_role("button", name="Save"))
    expect(page.get_by_text("Saved. The change applies from the next e-mail on.")).to_be_visible()
    expect(page.get_by_role("checkbox", checked=False)).to_have_count(1)

    way.press(page.get_by_role("link", name="Slack, Telegram and webhooks"))
    way.press(page.locator("summary", has_text="Webhook"))
    if way is MOUSE:
        page.locator("summary", has_text="Telegram").click()
        page.locator("summary", has_text="Slack").click()
        checker.check(page, "notice-channels-forms")
    with Receiver(200, 410) as receiver:
        form = channel_form(page, "Webhook")
        way.enter(form.get_by_label("Name"), "Newsroom")
        way.enter(form.get_by_label("Webhook address"), f"{receiver.url}/notices")
        way.check(form.get_by_label("A post failed"))
        way.press(form.get_by_role("button", name="Add the channel Webhook"))
        channel = page.get_by_role("region", name="Newsroom Webhook")
        expect(channel.get_by_role("checkbox", checked=True, include_hidden=True)).to_have_count(2)
        way.press(channel.get_by_role("button", name="Send a test"))
        expect_result(channel.get_by_text("Last notice sent:"), way)
        way.press(channel.get_by_role("button", name="Send a test"))
        expect_result(channel.get_by_text("The receiver answered 410.").first, way)

    assert [each.json()["type"] for each in receiver.requests] == ["notice.test", "notice.test"]
    if way is MOUSE:
        checker.check(page, "notice-channels-paused")
    page.goto(f"/dashboard/workspaces/{workspace.id}")
    way.press(page.get_by_role("link", name="Notices no longer reach the channel Newsroom."))
    way.press(channel.get_by_role("button", name="Resume"))
    way.press(channel.get_by_role("button", name="Pause"))
    expect(channel.get_by_role("button", name="Resume")).to_be_visible()
    way.press(channel.get_by_role("button", name="Remove"))
    expect(page.get_by_text("There are no channels yet.")).to_be_visible()


def test_the_buttons_of_notices_in_slack_and_telegram_lead_to_a_decision(
    open_page: OpenPage,
    workspace: Workspace,
    checker: PageChecker,
    bluesky: FakeBluesky,
    slack: FakeSlack,
    telegram: FakeTelegram,
) -> None:
    room, bot, chat = slack.add_channel(), telegram.add_bot("desk_bot"), telegram.add_chat("supergroup", "Desk")
    telegram.set_member(chat, bot, "member")
    channels = {
        "Slack": {"Address of the incoming webhook": slack.add_webhook(room)},
        "Telegram": {"Bot token": bot, "Chat": str(chat)},
    }
    page = open_page(f"/dashboard/workspaces/{workspace.id}/settings/notice-channels")
    for kind, fields in channels.items():
        page.locator("summary", has_text=kind).click()
        form = channel_form(page, kind)
        for label, value in {"Name": f"Desk in {kind}", **fields}.items():
            form.get_by_label(label, exact=True).fill(value)
        form.get_by_label("Language of the notices").select_option("Deutsch")
        form.get_by_role("button", name=f"Add the channel {kind}").click()
        expect(page.get_by_role("region", name=f"Desk in {kind}")).to_be_visible()
    group = ask_for_approval(workspace, bluesky)
    workspace.service.send_notices()
    wait_until(lambda: bool(slack.messages(room) and telegram.messages(chat)))
    in_slack = [each for block in slack.messages(room)[0]["blocks"] for each in block.get("elements", []) if "url" in each]
    in_telegram = [each for row in telegram.messages(chat)[0].options["keyboard"] for each in row]

    page.goto(next(each["url"] for each in in_telegram if each["text"] == "Freigeben"))
    expect(page.get_by_role("button", name="Approve for")).to_be_visible()
    rejection = next(each["url"] for each in in_slack if each["text"]["text"] == "Ablehnen")
    page.goto(rejection)
    expect(page.get_by_label("Reason")).to_be_visible()
    checker.check(page, "post-waiting-reject")

    workspace.call("PATCH", f"/posts/{group['id']}", {"text": "May I, please?"})
    page.goto(rejection.replace("#review", "&again=1#review"))
    expect(page.get_by_text("The post has changed since the notice was sent.")).to_be_visible()
    checker.check(page, "post-waiting-outdated")
    page.get_by_role("link", name="Show the post as it is now").click()
    page.locator("summary", has_text="Reject…").click()
    page.get_by_label("Reason").fill("Not today")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Rejected")


@in_every_way
def test_a_post_is_approved_and_another_rejected_from_an_email(
    open_page: OpenPage,
    service: Service,
    workspace: Workspace,
    bluesky: FakeBluesky,
    mail_server: FakeMailServer,
    way: WayOfUse,
) -> None:
    second = service.new_workspace("Second desk")  # because a workspace gets an e-mail of a kind every ten minutes at most
    groups = [ask_for_approval(each, bluesky) for each in (workspace, second)]
    service.send_notices()
    decisions = (("Approve", re.compile("^Approve for"), "scheduled"), ("Reject", re.compile("^Reject$"), "rejected"))
    for group, (link, button, status) in zip(groups, decisions, strict=True):
        page = open_page(**way.options)
        page.set_content(content(next_email(mail_server, re.compile(group["id"])), "html"))
        way.press(page.get_by_role("link", name=link, exact=True))
        expect(page).to_have_url(re.compile(f"plan_hash={group['plan_hash'].replace(':', '%3A')}"))
        way.press(page.get_by_role("button", name=button))
        expect(page.get_by_role("heading", level=1)).to_contain_text(status.capitalize())

        assert service.call("GET", f"/posts/{group['id']}")["post_group"]["status"] == status
