"""Who can sign in by a link in an e-mail, and what the answers do not tell."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from auditlog.models import AuditEntry
from tests import factories
from tests.in_threads import in_threads
from tests.people import as_user
from tests.workspaces.browsers import new_browser, send_form, signed_in
from tests.workspaces.mailed_links import ADDRESS, NOON, PAGE, link_for, request_link, sent_links, use
from tests.workspaces.test_invitations import invite
from tests.workspaces.test_members import roles
from workspaces.models import Invitation, Member, OutgoingMail, SignInLink, User, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "own_limits")]


@pytest.mark.parametrize(
    "fields",
    [
        {"email_verified": False},
        {"is_staff": True},
        {"is_active": False},
        {"email": "other@example.com"},
    ],
)
def test_others_get_the_same_answer_and_no_e_mail(fields: dict[str, Any]) -> None:
    known, _ = "known@example.com", factories.UserFactory(email="known@example.com", email_verified=True)
    factories.UserFactory(**{"email": ADDRESS, "email_verified": True, **fields})
    seen = []
    for email in (known, ADDRESS):
        browser = new_browser()
        browser.get(PAGE)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            answer = request_link(email, browser=browser)
        statements = [re.sub(r"'[^']*'", "?", query["sql"]) for query in asked]
        seen.append((answer.status_code, answer["Location"], answer.content, statements))

    assert seen[0] == seen[1]  # the work is the same as well, so its time tells nothing
    assert len(sent_links()) == 1
    assert mail.outbox[0].to == [known]
    assert not OutgoingMail.objects.filter(sent_at=None).exists()


def test_a_user_who_became_an_operator_or_was_closed_cannot_use_an_earlier_link(ada: User) -> None:
    for fields in ({"is_staff": True}, {"is_active": False}):
        User.objects.filter(pk=ada.pk).update(is_staff=False, is_active=True)
        link = link_for()
        User.objects.filter(pk=ada.pk).update(**fields)
        answer = use(link)
        assert answer.status_code == 410
        assert not signed_in(answer.client)
    assert not AuditEntry.objects.filter(operation="users.sign_in").exists()


def test_an_invited_person_becomes_a_user_and_joins(workspace: Workspace, owner: User) -> None:
    invitation = invite(owner, workspace, ADDRESS)
    asked = new_browser().get(invitation)["Location"]
    answer = use(link_for(next_page=invitation))

    assert asked == f"{PAGE}?next={invitation}"
    assert answer["Location"] == invitation
    assert send_form(answer.client, invitation, invitation).status_code == 302
    [made] = User.objects.filter(email=ADDRESS)
    assert (made.email_verified, made.is_staff, made.has_usable_password()) == (True, False, False)
    assert roles(workspace)[made.id] == "member"
    assert signed_in(use(link_for()).client)  # later without an invitation
    assert User.objects.filter(email=ADDRESS).count() == 1


@pytest.mark.parametrize("end", ["withdrawn", "expired", "inviter", "workspace"])
def test_a_closed_invitation_leads_to_no_user(workspace: Workspace, owner: User, clock: Any, end: str) -> None:
    invite(owner, workspace, ADDRESS)
    link = link_for()
    if end == "withdrawn":
        Invitation.objects.all().delete()
    elif end == "expired":
        Invitation.objects.update(expires_at=NOON)
    elif end == "inviter":
        Member.objects.filter(user=owner).update(role="member")
    else:
        Workspace.objects.update(status="deleted")

    assert use(link).status_code == 410
    request_link()
    assert len(sent_links()) == 1  # the first
    assert not User.objects.filter(email=ADDRESS).exists()


def test_two_links_of_an_invited_address_at_once_create_one_user(
    workspace: Workspace, owner: User, transactional_db: None
) -> None:
    invite(owner, workspace, ADDRESS)
    links = [link_for(), link_for()]
    in_threads(2, lambda number: use(links[number]))

    assert User.objects.filter(email=ADDRESS).count() == 1


def test_of_several_users_with_the_address_the_last_to_sign_in_is_chosen(ada: User) -> None:
    recent = factories.UserFactory(email=ADDRESS, email_verified=True, last_login=NOON - timedelta(days=1))
    factories.UserFactory(email=ADDRESS, email_verified=True, last_login=NOON - timedelta(days=2))
    use(link_for())

    assert AuditEntry.objects.get(operation="users.sign_in").actor_id == recent.pk


def test_deleting_a_user_deletes_the_links(ada: User) -> None:
    link = link_for()
    assert as_user(ada).delete(f"/users/{ada.id}").status_code == 200

    assert not SignInLink.objects.exists()
    assert new_browser().get(link).status_code == 410


def test_an_operator_adds_the_first_person_by_a_command() -> None:
    told = StringIO()
    call_command("add_person", "Ada@example.com", "--name", "Ada", stdout=told)

    made = User.objects.get(email=ADDRESS)
    assert told.getvalue() == f"Created {made.id}, who can now sign in at /dashboard/ with {ADDRESS}.\n"
    assert signed_in(use(link_for()).client)
    with pytest.raises(CommandError, match="already has a user"):
        call_command("add_person", ADDRESS)
    with pytest.raises(CommandError, match="not a valid"):
        call_command("add_person", "ada")


def test_the_command_says_what_is_missing(settings: Any) -> None:
    settings.SIGN_IN_BY_EMAIL = False

    with pytest.raises(CommandError, match="EMAIL_URL"):
        call_command("add_person", ADDRESS)
