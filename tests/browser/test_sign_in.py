"""First sign-in at an OpenID provider that others wrote, up to a published post, and out again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import new_context
from tests.browser.service import Service, running
from tests.browser.watch import Inspection, Watch

peer = pytest.importorskip("oidc_provider_mock")


@pytest.fixture(scope="module")
def with_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose people sign in at oidc-provider-mock, in a thread of the tests."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")  # it speaks plain http on this machine
        ada = peer.User(sub="ada", claims={"email": "ada@example.com", "email_verified": True, "name": "Ada"})
        with peer.run_server_in_thread(require_nonce=True, user_claims=[ada]) as server:
            settings = {
                "OIDC_ISSUER": f"http://localhost:{server.server_port}",
                "OIDC_CLIENT_ID": "the-service",
                "OIDC_CLIENT_SECRET": "a secret",
            }
            with running(tmp_path_factory.mktemp("with-provider"), settings) as service:
                yield service


def test_from_the_first_sign_in_to_a_published_post(
    chromium: Browser, with_provider: Service, inspection: Inspection
) -> None:
    context = new_context(chromium, with_provider.base_url)
    watch = Watch(context, with_provider.base_url)
    page = context.new_page()
    page.goto("/dashboard/")
    inspection.look(page, "sign-in-with-provider")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="ada").click()

    expect(page.get_by_text("You are not a member of any workspace yet.")).to_be_visible()
    inspection.look(page, "no-workspace")
    page.get_by_label("Name", exact=True).fill("Ada's news")
    page.get_by_label("Time zone").select_option("Europe/Lisbon")
    page.get_by_role("button", name="Create the workspace").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    inspection.look(page, "home-empty")

    page.get_by_role("link", name="New post").first.click()
    page.get_by_label("Text for all accounts").fill("Good morning from Lisbon")
    page.get_by_role("checkbox", name="Mastodon").check()
    expect(page.locator("#check-said")).to_contain_text("Valid for this account.")
    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Post Published")

    page.get_by_role("button", name="Sign out").click()
    page.goto("/dashboard/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    context.close()
    assert watch.problems == []


def test_who_denies_at_the_provider_is_told_so(chromium: Browser, with_provider: Service) -> None:
    context = new_context(chromium, with_provider.base_url)
    page = context.new_page()
    page.goto("/dashboard/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Deny").click()

    expect(page.get_by_role("alert")).to_have_text("The sign-in was cancelled at the identity provider.")
    context.close()


def test_a_form_that_needs_a_recent_sign_in_is_not_lost(
    chromium: Browser, with_provider: Service, inspection: Inspection
) -> None:
    context = new_context(chromium, with_provider.base_url)
    watch = Watch(context, with_provider.base_url)
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
    inspection.look(page, "sign-in-again")
    page.get_by_role("button", name="Sign in again").click()
    page.get_by_role("button", name="ada").click()
    expect(page.get_by_role("heading", name="You have signed in again")).to_be_visible()
    inspection.look(page, "held-form")
    page.get_by_role("button", name="Send the invitation").click()
    expect(page.get_by_role("heading", name="grace@example.com is invited")).to_be_visible()
    context.close()
    assert watch.problems == []
