"""Signing in and out in a browser at an OpenID provider of a third party (oidc-provider-mock)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import new_context
from tests.browser.page_checks import ErrorRecorder, PageChecker
from tests.browser.service import Service, run_service
from tests.browser.ways_of_use import MOUSE, WayOfUse, in_every_way, sign_out

peer = pytest.importorskip("oidc_provider_mock")


@pytest.fixture(scope="module")
def with_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose users sign in at oidc-provider-mock, which runs in a thread of the tests."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")  # it speaks plain http on this machine
        ada = peer.User(sub="ada", claims={"email": "ada@example.com", "email_verified": True, "name": "Ada"})
        with peer.run_server_in_thread(require_nonce=True, user_claims=[ada]) as server:
            settings = {
                "OIDC_ISSUER": f"http://localhost:{server.server_port}",
                "OIDC_CLIENT_ID": "the-service",
                "OIDC_CLIENT_SECRET": "a secret",
            }
            with run_service(tmp_path_factory.mktemp("with-provider"), settings) as service:
                yield service


@in_every_way
def test_a_new_user_signs_in_and_publishes_a_post(
    chromium: Browser, with_provider: Service, checker: PageChecker, way: WayOfUse
) -> None:
    context = new_context(chromium, with_provider.base_url, **way.options)
    recorder = ErrorRecorder(context, with_provider.base_url)
    page = context.new_page()
    page.goto("/dashboard/?all=1")
    if way is MOUSE:
        checker.check(page, "sign-in-with-provider")
    way.press(page.get_by_role("button", name="Sign in"))
    page.get_by_role("button", name="ada").click()  # a page of the provider

    if way is MOUSE:
        expect(page.get_by_text("You are not a member of any workspace yet.")).to_be_visible()
        checker.check(page, "no-workspace")
    way.enter(page.get_by_label("Name", exact=True), "Ada's news")
    page.get_by_label("Time zone").select_option("Europe/Lisbon")
    way.press(page.get_by_role("button", name="Create the workspace"))
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    if way is MOUSE:
        checker.check(page, "home-empty")

    way.press(page.get_by_role("link", name="New post").locator("visible=true").first)
    way.enter(page.get_by_label("Text for all accounts"), "Good morning from Lisbon")
    way.check(page.get_by_role("checkbox", name="Mastodon"))
    way.press(page.get_by_role("button", name="Publish now"))
    expect(page.locator("#messages")).to_contain_text("It is published in 10 seconds.")

    sign_out(page, way)
    page.goto("/dashboard/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    context.close()
    assert recorder.problems == []


def test_a_sign_in_denied_at_the_provider_shows_a_message(chromium: Browser, with_provider: Service) -> None:
    context = new_context(chromium, with_provider.base_url)
    page = context.new_page()
    page.goto("/dashboard/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Deny").click()

    expect(page.get_by_role("alert")).to_have_text("The sign-in was cancelled at the identity provider.")
    context.close()


def test_a_form_that_needs_a_recent_sign_in_is_saved(chromium: Browser, with_provider: Service, checker: PageChecker) -> None:
    context = new_context(chromium, with_provider.base_url)
    recorder = ErrorRecorder(context, with_provider.base_url)
    page = context.new_page()
    page.goto("/dashboard/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="ada").click()
    page.goto("/dashboard/?all=1")
    page.get_by_label("Name", exact=True).fill("Ada's desk")
    page.get_by_role("button", name="Create the workspace").click()
    page.get_by_role("link", name="Settings").click()
    members = page.url.replace("/settings", "/members")
    page.goto(members)
    page.get_by_label("E-mail address").fill("grace@example.com")
    with_provider.age_sign_ins()
    page.get_by_role("button", name="Invite").click()

    expect(page.get_by_role("heading", name="Sign in again")).to_be_visible()
    checker.check(page, "sign-in-again")
    page.get_by_role("button", name="Sign in again").click()
    page.get_by_role("button", name="ada").click()
    expect(page.get_by_role("heading", name="You have signed in again")).to_be_visible()
    checker.check(page, "held-form")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_role("heading", name="grace@example.com is invited")).to_be_visible()
    context.close()
    assert recorder.problems == []
