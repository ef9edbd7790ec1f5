"""Sign-in by a link in an e-mail: its single use, its limits, and where it is offered."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from auditlog.models import AuditEntry
from tests import factories
from tests.fakes.openid import FakeOpenIdProvider
from tests.in_threads import in_threads
from tests.pages import words
from tests.workspaces.browsers import BEGIN, new_browser, send_form, signed_in, use_provider
from tests.workspaces.mailed_links import ADDRESS, PAGE, REQUEST, link_for, request_link, sent_links, use
from tests.workspaces.test_sign_in_again import AGAIN, submit_saved_form
from workspaces.dashboard.sign_in_link import LINKS_PER_ADDRESS, LINKS_PER_CLIENT
from workspaces.models import Invitation, OutgoingMail, SignInLink, User
from workspaces.services import LINK_LIFETIME

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock", "own_limits")]


def test_a_mailed_link_signs_in_once(ada: User) -> None:
    answer = request_link(" Ada@Example.COM ", "/dashboard/sessions")
    assert (answer.status_code, answer["Location"]) == (302, REQUEST)
    assert "Check your e-mail" in words(answer.client.get(REQUEST))
    [link] = sent_links()
    [message] = mail.outbox
    assert (message.to, message.subject) == ([ADDRESS], "Sign in to Social Publishing Service")
    assert message.extra_headers == {"Auto-Submitted": "auto-generated"}
    assert "until 12:15 UTC (15 minutes)" in message.body
    [(html, kind)] = message.alternatives  # type: ignore[attr-defined]
    assert kind == "text/html"
    assert link in html.replace("&amp;", "&")

    entered = use(link)
    assert (entered.status_code, entered["Location"]) == (302, "/dashboard/sessions")
    assert signed_in(entered.client)
    [entry] = AuditEntry.objects.filter(operation="users.sign_in")
    assert (entry.actor_id, entry.resource_id, entry.metadata) == (ada.id, ada.id, {"by": "email"})
    again = new_browser().get(link)
    assert (again.status_code, "already used" in words(again)) == (410, True)


def test_opening_a_link_does_not_use_it_up(ada: User) -> None:
    link = link_for()
    scanner = new_browser()
    for _ in range(3):
        assert scanner.get(link).status_code == scanner.head(link).status_code == 200
    assert not signed_in(scanner)
    assert scanner.post(link).status_code == 403  # without the token of the form

    assert signed_in(use(link).client)


def test_the_pages_of_a_link_are_not_stored_and_send_no_referrer_with_its_secret(ada: User) -> None:
    link = link_for()
    for answer in (new_browser().get(link), use(link), new_browser().get(link)):
        assert "no-store" in answer["Cache-Control"]
        if answer.status_code != 302:
            assert answer["Referrer-Policy"] == "strict-origin"


def test_the_session_gets_a_new_key(ada: User) -> None:
    browser = new_browser()
    session = browser.session
    session["planted"] = True
    session.save()
    browser.cookies["sessionid"] = planted = str(session.session_key)
    use(link_for(), browser)

    assert browser.cookies["sessionid"].value != planted
    assert not signed_in(Client(headers={"cookie": f"sessionid={planted}"}))


def test_of_two_uses_at_once_one_signs_in(ada: User, transactional_db: None) -> None:
    link = link_for()
    answers = in_threads(2, lambda number: use(link) if number else send_form(new_browser(), PAGE, link))

    assert sorted(answer.status_code for answer in answers) == [302, 410]


def test_a_link_is_valid_for_fifteen_minutes(ada: User, clock: Any) -> None:
    first, second = link_for(), link_for()
    clock.shift(LINK_LIFETIME - timedelta(seconds=1))
    assert signed_in(use(first).client)
    clock.shift(timedelta(seconds=1))

    assert new_browser().get(second).status_code == 410


def test_only_a_digest_of_the_token_is_stored(ada: User) -> None:
    token = link_for().rpartition("/")[2]

    assert token not in str([*SignInLink.objects.values(), *OutgoingMail.objects.values()])


@pytest.mark.parametrize(
    "next_page",
    ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example", "foo", "sign-in", "?a=b"],
)
def test_a_link_leads_only_to_pages_of_this_service(ada: User, next_page: str) -> None:
    link = link_for(next_page=next_page)
    assert "next=" not in link
    sent = use(f"{link}?next={next_page}")

    assert (sent.status_code, sent["Location"]) == (302, "/dashboard/")
    assert signed_in(sent.client)


def test_links_are_limited_by_address_and_by_client(ada: User) -> None:
    for number in range(LINKS_PER_ADDRESS):
        assert request_link(browser=Client(REMOTE_ADDR=f"10.0.0.{number}")).status_code == 302
    for email, expected in ((ADDRESS, 429), ("unknown@example.com", 302)):
        assert request_link(email, browser=Client(REMOTE_ADDR="10.0.1.1")).status_code == expected

    clients = [request_link(f"a{number}@example.com").status_code for number in range(LINKS_PER_CLIENT + 1)]
    assert (clients[:-1], clients[-1]) == ([302] * LINKS_PER_CLIENT, 429)
    assert len(sent_links()) == LINKS_PER_ADDRESS


def test_addresses_of_one_ipv6_network_share_the_limit(ada: User) -> None:
    clients = [Client(REMOTE_ADDR=f"2001:db8:1:2::{number + 1:x}") for number in range(LINKS_PER_CLIENT + 1)]
    statuses = [request_link(f"a{number}@example.com", browser=client).status_code for number, client in enumerate(clients)]

    assert (statuses[:-1], statuses[-1]) == ([302] * LINKS_PER_CLIENT, 429)
    assert request_link("b@example.com", browser=Client(REMOTE_ADDR="2001:db8:1:3::1")).status_code == 302


def test_a_malformed_address_is_refused_and_nothing_is_queued() -> None:
    for email in ("", "ada", "ada@", "a" * 250 + "@example.com", "ada@example.com\nBcc: b@example.com"):
        answer = request_link(email)
        assert (answer.status_code, "not a valid e-mail address" in words(answer)) == (422, True)
    assert not OutgoingMail.objects.exists()


def test_a_request_that_waited_too_long_for_the_mail_server_is_dropped(ada: User, clock: Any) -> None:
    request_link()
    clock.shift(LINK_LIFETIME)

    assert sent_links() == []
    assert not OutgoingMail.objects.exists()
    assert not SignInLink.objects.exists()


@pytest.mark.parametrize(
    ("changes", "is_offered"),
    [
        ({}, True),
        ({"SIGN_IN_BY_EMAIL": False}, False),
        ({"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend", "PRODUCTION": True}, False),
        ({"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}, True),  # the worker prints it
    ],
)
def test_the_page_offers_a_link_only_where_one_can_be_sent(
    ada: User, settings: Any, changes: dict[str, Any], is_offered: bool
) -> None:
    link = link_for()
    for name, value in changes.items():
        setattr(settings, name, value)

    assert ("E-mail me a link" in words(new_browser().get(PAGE))) is is_offered
    assert new_browser().get(link).status_code == (200 if is_offered else 404)
    assert Client().post(REQUEST, {"email": ADDRESS}).status_code == (302 if is_offered else 404)
    assert Client().post(link).status_code == (302 if is_offered else 404)


def test_the_provider_and_a_link_can_be_offered_together(provider: FakeOpenIdProvider, ada: User, settings: Any) -> None:
    assert "E-mail me a link" not in words(new_browser().get(PAGE))
    use_provider(settings, provider)
    settings.SIGN_IN_BY_EMAIL = True

    shown = new_browser().get(PAGE).content.decode()
    assert BEGIN in shown
    assert REQUEST in shown
    assert signed_in(use(link_for()).client)


def test_signing_in_again_is_by_a_link_as_well(ada: User, clock: Any) -> None:
    workspace = factories.WorkspaceFactory(owner_user=ada)
    browser = new_browser()
    use(link_for(), browser)
    clock.shift(timedelta(hours=1))
    members = f"/dashboard/workspaces/{workspace.id}/members"
    held = send_form(browser, members, f"{members}/invite", email="grace@example.com", role="admin")
    assert held["Location"].startswith(AGAIN)
    shown = browser.get(held["Location"])
    assert "E-mail me a link" in words(shown)
    fields = dict(re.findall(r'name="(email|next)" value="([^"]+)"', shown.content.decode()))
    assert send_form(browser, held["Location"], REQUEST, **fields).status_code == 302
    again = use(sent_links()[-1], browser)

    assert again["Location"] == fields["next"]
    assert submit_saved_form(browser).status_code == 200
    assert Invitation.objects.get().email == "grace@example.com"
