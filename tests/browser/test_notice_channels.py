"""Notice channels in a browser: adding, testing, pausing and removing one, and the decisions to which notices link."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.page_checks import PageChecker
from tests.browser.service import Workspace
from tests.fakes.receiver import Receiver


def test_a_channel_is_added_tested_paused_and_removed(
    open_page: OpenPage, workspace: Workspace, checker: PageChecker
) -> None:
    page = open_page(f"/dashboard/workspaces/{workspace.id}/settings")
    page.get_by_role("link", name="Slack, Telegram and webhooks").click()
    page.locator("summary", has_text="Telegram").click()
    page.locator("summary", has_text="Slack").click()
    page.locator("summary", has_text="Webhook").click()
    checker.check(page, "notice-channels-forms")
    with Receiver(200, 410) as receiver:
        form = page.locator("form", has=page.get_by_role("button", name="Add the channel Webhook"))
        form.get_by_label("Name").fill("Newsroom")
        form.get_by_label("Webhook address").fill(f"{receiver.url}/notices")
        form.get_by_label("A post failed").check()
        form.get_by_role("button", name="Add the channel Webhook").click()
        channel = page.get_by_role("region", name="Newsroom Webhook")
        channel.get_by_role("button", name="Send a test").click()
        expect(channel.get_by_text("Last notice sent:")).to_be_visible()
        channel.get_by_role("button", name="Send a test").click()
        expect(channel.get_by_text("The receiver answered 410.").first).to_be_visible()

    assert [each.json()["type"] for each in receiver.requests] == ["notice.test", "notice.test"]
    checker.check(page, "notice-channels-paused")
    page.goto(f"/dashboard/workspaces/{workspace.id}")
    page.get_by_role("link", name="Notices no longer reach the channel Newsroom.").click()
    channel.get_by_role("button", name="Resume").click()
    channel.get_by_role("button", name="Pause").click()
    expect(channel.get_by_role("button", name="Resume")).to_be_visible()
    channel.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("There are no channels yet.")).to_be_visible()


def test_the_links_of_a_notice_lead_to_a_decision(open_page: OpenPage, workspace: Workspace, checker: PageChecker) -> None:
    _, key = workspace.new_agent("Desk agent")
    group = workspace.post("May I?", workspace.account("mastodon"), token=key)
    link = f"{group['approval_url']}?{urlencode({'plan_hash': group['plan_hash'], 'decision': 'reject'})}#review"
    page = open_page(link)
    expect(page.get_by_label("Reason")).to_be_visible()
    checker.check(page, "post-waiting-reject")

    workspace.call("PATCH", f"/posts/{group['id']}", {"text": "May I, please?"})
    page.goto(link.replace("#review", "&again=1#review"))
    expect(page.get_by_text("The post has changed since the notice was sent.")).to_be_visible()
    checker.check(page, "post-waiting-outdated")
    page.get_by_role("link", name="Show the post as it is now").click()
    page.locator("summary", has_text="Reject…").click()
    page.get_by_label("Reason").fill("Not today")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Rejected")
