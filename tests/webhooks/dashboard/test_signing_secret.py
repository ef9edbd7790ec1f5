"""The dashboard page of the webhook signing secret: showing it, rotating it, and the documented verification code."""

from __future__ import annotations

import html
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from auditlog.models import AuditEntry
from tests.fakes.receiver import Receiver
from tests.pages import Pages, form_of, has_form, words
from tests.webhooks.rows import NOON, make_delivery
from tests.webhooks.sending import deliver_until_idle
from webhooks.models import SigningSecret
from webhooks.services.signing_secrets import get_or_create_secrets_by_workspace_id
from workspaces.models import Member, User, Workspace


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner, csrf=True)


@pytest.fixture
def admin(workspace: Workspace, teammate: User) -> Pages:
    Member.objects.filter(user=teammate).update(role="admin")
    return Pages(workspace, teammate)


def shown_secret(page: Any) -> str:
    assert page.status_code == 200
    return page.content.decode().partition('<code id="secret">')[2].partition("<")[0]


def send(pages: Pages, name: str) -> Any:
    return pages.post(name, form_of(pages.get("webhooks"), pages.address(name)))


def secret_of(workspace: Workspace) -> str:
    return str(SigningSecret.objects.get(pk=workspace.pk).secret)


def test_the_secret_is_shown_only_in_the_response_to_the_form(pages: Pages, workspace: Workspace) -> None:
    before = pages.get("webhooks").content.decode()
    shown = shown_secret(send(pages, "webhook-secret"))

    assert shown == secret_of(workspace)
    entry = AuditEntry.objects.get()
    assert (entry.operation, entry.outcome, entry.workspace_id, entry.actor_id) == (
        "workspaces.get_signing_secret",
        "succeeded",
        workspace.id,
        workspace.owner_user_id,
    )
    assert shown not in before + pages.get("webhooks").content.decode()
    assert pages.get("webhook-secret").status_code == 405
    assert pages.post("webhook-secret").status_code == 403  # without its token


def test_rotation_shows_the_new_secret_once_and_the_old_one_signs_for_a_day(workspace: Workspace, owner: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        pages = Pages(workspace, owner, csrf=True)
        first = shown_secret(send(pages, "webhook-secret"))
        form = form_of(pages.get("webhooks"), pages.address("webhook-secret-rotate"))
        second = shown_secret(pages.post("webhook-secret-rotate", form))
        again = pages.post("webhook-secret-rotate", form, follow=True)

        assert second == secret_of(workspace) != first
        assert "already replaced" in words(again)
        assert second not in again.content.decode()
        assert get_or_create_secrets_by_workspace_id([workspace.id])[workspace.id] == (second, first)
        assert "Until 11 Mar 2027, 12:00 each delivery has two signatures" in words(pages.get("webhooks"))
        clock.shift(timedelta(hours=25))
        assert "two signatures" not in words(pages.get("webhooks"))
    assert AuditEntry.objects.filter(operation="workspaces.rotate_signing_secret").count() == 1


def test_the_documented_example_verifies_signatures(pages: Pages, workspace: Workspace, receiver: Receiver) -> None:
    page = pages.get("webhooks").content.decode()
    example: dict[str, Any] = {}
    exec(html.unescape(page.partition('<pre id="verify">')[2].partition("</pre>")[0]), example)  # noqa: S102
    send(pages, "webhook-secret-rotate")
    make_delivery(workspace, receiver.url)
    deliver_until_idle()
    sent, secret = receiver.requests[0], secret_of(workspace)
    header = sent.headers["x-service-signature"]

    assert example["is_genuine"](secret, header, sent.body)
    assert not example["is_genuine"](secret, header, sent.body + b" ")
    assert not example["is_genuine"]("whsec_other", header, sent.body)
    with time_machine.travel(NOON):
        assert not example["is_genuine"](secret, header, sent.body)


def test_an_admin_may_see_the_secret_and_only_the_owner_may_rotate_it(admin: Pages, workspace: Workspace) -> None:
    page = admin.get("webhooks")

    assert has_form(page, admin.address("webhook-secret"))
    assert not has_form(page, admin.address("webhook-secret-rotate"))
    shown = shown_secret(admin.post("webhook-secret"))
    assert "Only the workspace's owner" in words(admin.post("webhook-secret-rotate", {"key": "k"}, follow=True))
    assert secret_of(workspace) == shown


def test_members_may_not_see_the_secret(workspace: Workspace, teammate: User, stranger: User) -> None:
    theirs = Pages(workspace, teammate)
    assert not has_form(theirs.get("webhooks"), theirs.address("webhook-secret"))
    for name in ("webhook-secret", "webhook-secret-rotate"):
        refused = theirs.post(name, {"key": "k"}, follow=True)
        assert "whsec_" not in refused.content.decode().replace("<code>whsec_</code>", "")
        assert Pages(workspace, stranger).post(name, {"key": "k"}).status_code == 404
    assert {entry.code for entry in AuditEntry.objects.all()} == {"FORBIDDEN", "NOT_FOUND"}
