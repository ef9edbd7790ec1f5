"""The dashboard page that tests a webhook URL."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import PostGroup
from tests.conftest import ServeNames
from tests.factories import AccountFactory
from tests.fakes.name_server import Records
from tests.fakes.receiver import Receiver
from tests.pages import Pages, form_of, has_form, words
from tests.posts.publishing.worker import run_until_idle
from tests.webhooks.sending import deliver_until_idle
from workspaces.models import User, Workspace


@pytest.fixture
def receiver(settings: Settings) -> Any:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with Receiver() as listening:
        yield listening


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner, csrf=True)


def send(pages: Pages, url: str, ending: str = "published", **changed: str) -> Any:
    form = {**form_of(pages.get("webhook-test")), **changed}
    return pages.post("webhook-test", {**form, "webhook_url": url, "ending": ending})


@pytest.mark.parametrize(
    ("ending", "kind"), [("published", "post.published"), ("failed", "post.failed"), ("unconfirmed", "post.unconfirmed")]
)
def test_the_event_of_a_sandbox_post_arrives(
    pages: Pages, account: ConnectedAccount, receiver: Receiver, ending: str, kind: str
) -> None:
    answer = send(pages, receiver.url, ending)
    group = PostGroup.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"{pages.address('webhooks')}?post={group.id}&wait=1")
    assert "The test is running." in words(pages.http.get(answer["Location"]))

    run_until_idle()
    deliver_until_idle()

    [sent] = receiver.requests
    event = json.loads(sent.body)
    assert (event["type"], event["sandbox"]) == (kind, True)
    assert event["data"]["post_group"]["id"] == group.id
    assert f"Delivered {kind}" in words(pages.http.get(answer["Location"]))
    assert AuditEntry.objects.get().operation == "posts.create"


def test_an_account_that_accepts_text_only_is_chosen_and_publishes_in_the_sandbox(
    pages: Pages, workspace: Workspace, receiver: Receiver
) -> None:
    AccountFactory(workspace=workspace, platform="instagram")  # wants a picture
    real = AccountFactory(workspace=workspace, platform="mastodon", sandbox=False)

    send(pages, receiver.url)

    [target] = PostGroup.objects.get().targets.all()
    assert (target.account_id, target.sandbox) == (real.id, True)


def test_a_form_sent_twice_creates_one_test_post(pages: Pages, account: ConnectedAccount, receiver: Receiver) -> None:
    first = send(pages, receiver.url, key="the same")
    second = send(pages, receiver.url, key="the same")

    assert first["Location"] == second["Location"]
    assert PostGroup.objects.count() == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "This field is required."),
        ("http://hooks.example.com/x", "Events cannot be sent to this address"),
        ("https://10.0.0.1/x", "Events cannot be sent to this address"),
        ("https://h.example.com/" + "x" * 2048, "at most 2048 characters"),
    ],
)
def test_an_address_that_is_not_allowed_shows_an_error_at_its_field(
    pages: Pages, account: ConnectedAccount, url: str, said: str
) -> None:
    page = send(pages, url, key="kept")

    assert page.status_code == 422
    assert said in page.content.decode().partition('class="problem"')[2].partition("</p>")[0]
    assert form_of(page)["webhook_url"] == url
    assert form_of(page)["key"] == "kept"
    assert not PostGroup.objects.exists()


def test_without_an_account_the_page_shows_what_to_do(pages: Pages, receiver: Receiver) -> None:
    answer = send(pages, receiver.url)

    assert "Connect an account" in words(pages.http.get(answer["Location"]))


def test_members_are_refused_and_strangers_get_404(
    workspace: Workspace, account: ConnectedAccount, teammate: User, stranger: User, receiver: Receiver
) -> None:
    form = {"webhook_url": receiver.url, "ending": "published", "key": "k"}
    theirs = Pages(workspace, teammate)

    assert not has_form(theirs.get("webhook-test"))
    assert theirs.post("webhook-test", form).status_code == 303
    assert Pages(workspace, stranger).post("webhook-test", form).status_code == 404
    assert Pages(workspace, None).get("webhook-test").status_code == 302
    assert Pages(workspace, teammate, csrf=True).post("webhook-test", form).status_code == 403
    assert not PostGroup.objects.exists()


def test_a_host_with_a_private_address_is_refused(pages: Pages, account: ConnectedAccount, name_server: ServeNames) -> None:
    name_server(lambda name: Records(["10.0.0.1"]))

    page = send(pages, "https://inside.example.com/")

    assert page.status_code == 422
    assert "Events cannot be sent to this address" in words(page)
    assert not PostGroup.objects.exists()
