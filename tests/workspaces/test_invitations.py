"""Invitations: sent by e-mail, accepted once by the user with the verified address."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client
from django.utils import timezone

from auditlog.models import AuditEntry
from tests import factories
from tests.fakes.openid import FakeOpenIdProvider
from tests.in_threads import in_threads
from tests.people import as_user
from tests.workspaces.browsers import person, send_form, sign_in, use_provider
from tests.workspaces.test_members import browser_of, page_of, roles, send
from workspaces.models import Invitation, Member, OutgoingMail, User, Workspace
from workspaces.worker_loop import MailLoop

ADDRESS = "alice@example.com"
LINK = re.compile(r"http://127\.0\.0\.1:8000(/dashboard/invitations/[\w-]{43})")


@pytest.fixture
def alice(db: None) -> User:
    """A user whose e-mail address the provider has verified."""
    made: User = factories.UserFactory(email=ADDRESS, email_verified=True, display_name="Alice")
    return made


def invite(user: User, workspace: Workspace, email: str = ADDRESS, role: str = "member") -> str:
    """Invite an address on the members page and return the path of the shown link."""
    shown = send(user, workspace, "/invite", email=email, role=role)
    found = LINK.search(shown.content.decode())
    assert found, shown.content.decode()
    return found[1]


def accept(user: User, link: str) -> Any:
    browser = browser_of(user)
    return send_form(browser, "/dashboard/?all=1", link)


def words(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_an_invitation_is_sent_by_e_mail_and_creates_a_member(workspace: Workspace, owner: User, alice: User) -> None:
    shown = invite(owner, workspace, role="admin")
    while MailLoop().run_once():
        pass

    [message] = mail.outbox
    assert (message.to, message.subject) == ([ADDRESS], f"Invitation to {workspace.name}")
    [sent] = LINK.findall(str(message.body))
    assert "for 7 days, until " in str(message.body)
    assert "invites you to the workspace" in str(message.body)
    assert sent == shown
    assert owner.display_name in message.body
    browser = browser_of(alice)
    assert f"Join {workspace.name}?" in words(browser.get(sent))
    answer = send_form(browser, sent, sent)
    assert (answer.status_code, answer["Location"]) == (302, f"/dashboard/workspaces/{workspace.id}")
    assert roles(workspace)[alice.id] == "admin"
    entries = AuditEntry.objects.order_by("pk").values_list("operation", "actor_id", "metadata")
    assert list(entries) == [
        ("members.invite", owner.id, {"role": "admin"}),
        ("members.accept_invitation", alice.id, {"role": "admin"}),
    ]
    assert ADDRESS not in str(list(AuditEntry.objects.values()))
    assert not Invitation.objects.exists()  # nothing of the address is left


def test_a_new_user_signs_in_and_returns_to_the_invitation(
    workspace: Workspace, owner: User, provider: FakeOpenIdProvider, settings: Any
) -> None:
    settings.OIDC_ISSUER = ""
    link = invite(owner, workspace)
    use_provider(settings, provider)
    asked = Client().get(link)["Location"]
    answer = sign_in(provider, "alice", next_page=link)

    assert asked == f"/dashboard/sign-in?next={link}"
    assert answer["Location"] == link
    assert send_form(answer.client, link, link).status_code == 302
    assert roles(workspace)[person(provider, "alice").id] == "member"


def test_only_a_digest_of_the_token_is_stored(workspace: Workspace, owner: User) -> None:
    token = invite(owner, workspace).rpartition("/")[2]

    assert token not in str(list(Invitation.objects.values()))
    assert token not in str(list(OutgoingMail.objects.values()))
    assert token not in browser_of(owner).get(page_of(workspace)).content.decode()


@pytest.mark.parametrize(
    ("email", "verified", "expected"),
    [
        (ADDRESS, False, "has verified. Your address is not verified"),
        ("bob@example.com", True, "is for another e-mail address than yours, bob@example.com"),
        ("", False, "has verified. Your address is not verified"),
        ("alice@example.com.evil.example", True, "is for another e-mail address"),
        ("al\u0131ce@example.com", True, "is for another e-mail address"),
    ],
)
def test_other_users_cannot_accept_or_read_an_invitation(
    workspace: Workspace, owner: User, email: str, verified: bool, expected: str
) -> None:
    workspace.name = "Secret plans"
    workspace.save()
    link = invite(owner, workspace)
    other = factories.UserFactory(email=email, email_verified=verified)
    for answer in (browser_of(other).get(link), accept(other, link)):
        assert answer.status_code == 403
        assert expected in words(answer)
        assert "Secret plans" not in words(answer)

    assert other.id not in roles(workspace)
    assert AuditEntry.objects.filter(operation="members.accept_invitation").get().code == "FORBIDDEN"
    assert Invitation.objects.count() == 1


def test_the_case_of_an_address_does_not_matter(workspace: Workspace, owner: User, alice: User) -> None:
    link = invite(owner, workspace, email="  Alice@EXAMPLE.com ")

    assert accept(alice, link).status_code == 302


def test_a_link_works_only_once(workspace: Workspace, owner: User, alice: User) -> None:
    link = invite(owner, workspace)
    accept(alice, link)
    Member.objects.filter(user=alice).delete()

    assert accept(alice, link).status_code == 409
    assert alice.id not in roles(workspace)


def _withdraw(workspace: Workspace, owner: User) -> None:
    send(owner, workspace, f"/invitations/{Invitation.objects.get().pk}/withdraw")


ENDINGS: dict[str, Any] = {
    "it was withdrawn": _withdraw,
    "it was replaced": lambda workspace, owner: invite(owner, workspace),
    "the workspace was deleted": lambda workspace, owner: as_user(owner).delete(f"/workspaces/{workspace.id}"),
    "who invited has left": lambda workspace, owner: Member.objects.filter(user__display_name="Admin").delete(),
    "who invited is no admin any more": lambda workspace, owner: Member.objects.filter(user__display_name="Admin").update(
        role="member"
    ),
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
def test_a_link_stops_working_when(workspace: Workspace, owner: User, alice: User, end: Any) -> None:
    admin = factories.UserFactory(display_name="Admin")
    Member.objects.create(workspace=workspace, user=admin, role="admin")
    link = invite(admin, workspace)
    end(workspace, owner)

    for answer in (browser_of(alice).get(link), accept(alice, link)):
        assert answer.status_code == 409
        assert "not valid" in words(answer)
    assert alice.id not in roles(workspace)


def test_a_link_is_valid_for_seven_days(workspace: Workspace, owner: User, alice: User) -> None:
    link, now = invite(owner, workspace), timezone.now()
    with time_machine.travel(now + timedelta(days=7, seconds=1)):
        assert accept(alice, link).status_code == 409
    with time_machine.travel(now + timedelta(days=6, hours=23)):
        assert accept(alice, link).status_code == 302


def test_an_unknown_token_is_not_accepted(alice: User) -> None:
    assert browser_of(alice).get("/dashboard/invitations/some-token").status_code == 409


def test_an_invitation_to_a_paused_workspace_cannot_be_accepted(workspace: Workspace, owner: User, alice: User) -> None:
    link = invite(owner, workspace)
    Workspace.objects.update(status="paused")

    assert accept(alice, link).status_code == 403
    Workspace.objects.update(status="active")
    assert accept(alice, link).status_code == 302


def test_inviting_an_address_again_replaces_the_invitation(workspace: Workspace, owner: User, alice: User) -> None:
    first, second = invite(owner, workspace), invite(owner, workspace, role="admin")

    assert Invitation.objects.count() == 1
    assert accept(alice, first).status_code == 409
    assert accept(alice, second).status_code == 302
    assert roles(workspace)[alice.id] == "admin"


def test_the_same_address_may_be_invited_to_two_workspaces(workspace: Workspace, owner: User, alice: User) -> None:
    other = factories.WorkspaceFactory(owner_user=owner)
    links = [invite(owner, each) for each in (workspace, other)]

    assert [accept(alice, link).status_code for link in links] == [302, 302]


def test_inviting_a_member_shows_an_error(workspace: Workspace, owner: User, alice: User) -> None:
    Member.objects.create(workspace=workspace, user=alice, role="admin")
    shown = send(owner, workspace, "/invite", email=ADDRESS, role="member")

    assert "is already a member" in words(shown)
    assert not Invitation.objects.exists()


def test_accepting_does_not_change_the_role_of_an_existing_member(workspace: Workspace, owner: User, alice: User) -> None:
    link = invite(owner, workspace)
    Member.objects.create(workspace=workspace, user=alice, role="admin")
    accept(alice, link)

    assert roles(workspace)[alice.id] == "admin"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"email": "nobody", "role": "member"}, "not a valid e-mail address"),
        ({"email": "", "role": "member"}, "not a valid e-mail address"),
        ({"email": "a@example.com\nbcc: b@example.com", "role": "member"}, "not a valid e-mail address"),
        ({"email": "a@example.com\0", "role": "member"}, "not a valid e-mail address"),
        ({"email": f"{'a' * 250}@example.com", "role": "member"}, "not a valid e-mail address"),
        ({"email": ADDRESS, "role": "owner"}, "Choose one of"),
        ({"email": ADDRESS}, "Choose one of"),
    ],
)
def test_invalid_addresses_and_roles_are_refused(
    workspace: Workspace, owner: User, fields: dict[str, str], expected: str
) -> None:
    assert expected in words(send(owner, workspace, "/invite", **fields))
    assert not Invitation.objects.exists()
    assert not OutgoingMail.objects.exists()


def test_an_invitation_of_another_workspace_cannot_be_withdrawn(workspace: Workspace, owner: User, stranger: User) -> None:
    invite(owner, workspace)
    other = stranger.owned_workspaces.get()
    send(stranger, other, f"/invitations/{Invitation.objects.get().pk}/withdraw")

    assert Invitation.objects.count() == 1
    assert AuditEntry.objects.get(actor_id=stranger.id).code == "NOT_FOUND"


def test_a_failed_e_mail_is_shown_and_the_invitation_stays_valid(workspace: Workspace, owner: User, alice: User) -> None:
    link = invite(owner, workspace)
    assert "the e-mail is not sent yet" in words(browser_of(owner).get(page_of(workspace)))
    OutgoingMail.objects.update(due_at=None)

    assert "the e-mail could not be sent" in words(browser_of(owner).get(page_of(workspace)))
    assert accept(alice, link).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_accepting_twice_concurrently_creates_one_member(workspace: Workspace, owner: User, alice: User) -> None:
    link = invite(owner, workspace)
    browsers = [browser_of(alice) for _ in range(2)]
    for browser in browsers:
        browser.get(link)
    answers = in_threads(2, lambda number: send_form(browsers[number], "/dashboard/?all=1", link))

    assert sorted(answer.status_code for answer in answers) == [302, 409]
    assert Member.objects.filter(user=alice).count() == 1
