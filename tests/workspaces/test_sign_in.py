"""Sign-in at the identity provider: users, sessions and operators."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from auditlog.models import AuditEntry
from tests import factories
from tests.conftest import ApiClient
from tests.fakes.openid import FakeOpenIdProvider
from tests.people import as_user
from tests.workspaces.browsers import (
    ALICE,
    BEGIN,
    CALLBACK,
    begin,
    new_browser,
    person,
    send_form,
    sign_in,
    signed_in,
    use_provider,
)
from workspaces.models import User, Workspace


def test_the_first_sign_in_creates_the_user_by_issuer_and_subject(provider: FakeOpenIdProvider) -> None:
    answer = sign_in(provider, "alice")

    assert (answer.status_code, answer["Location"]) == (302, "/dashboard/")
    [made] = User.objects.all()
    assert (made.identity_issuer, made.identity_subject) == (provider.url, "alice")
    assert (made.email, made.email_verified, made.display_name) == ("alice@example.com", True, "Alice A.")
    assert (made.is_staff, made.is_superuser, made.has_usable_password()) == (False, False, False)
    assert signed_in(answer.client)
    [entry] = AuditEntry.objects.all()
    assert (entry.operation, entry.actor_id, entry.resource_id, entry.metadata) == ("users.sign_in", made.id, made.id, {})


def test_a_later_sign_in_finds_the_user_and_updates_name_and_address(provider: FakeOpenIdProvider) -> None:
    sign_in(provider, "alice")
    provider.add_person("alice", email="Alice@New.example.com", name="Alice B.")
    sign_in(provider, "alice")

    [same] = User.objects.all()
    assert (same.email, same.email_verified, same.display_name) == ("alice@new.example.com", False, "Alice B.")


def test_users_with_the_same_address_are_never_linked(provider: FakeOpenIdProvider) -> None:
    local = factories.UserFactory(email=ALICE["email"])
    provider.add_person("another", **ALICE)
    sign_in(provider, "alice")
    sign_in(provider, "another")

    assert {person(provider, "alice").pk, person(provider, "another").pk, local.pk} == set(
        User.objects.filter(email=ALICE["email"]).values_list("pk", flat=True)
    )
    assert User.objects.count() == 3


def test_the_same_subject_of_another_issuer_is_another_user(provider: FakeOpenIdProvider, settings: Any) -> None:
    sign_in(provider, "alice")
    with FakeOpenIdProvider() as other:
        other.add_person("alice", **ALICE)
        use_provider(settings, other)
        sign_in(other, "alice")

    assert User.objects.count() == 2


def test_the_session_gets_a_new_key(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    url = begin(browser)
    before = browser.session.session_key
    browser.get(provider.sign_in(url, "alice"))

    assert browser.session.session_key != before
    assert not Session.objects.filter(pk=before).exists()


def test_a_sign_in_replaces_the_previous_user(provider: FakeOpenIdProvider) -> None:
    browser = sign_in(provider, "alice").client
    sign_in(provider, "bob", browser)

    assert browser.session["_auth_user_id"] == person(provider, "bob").pk


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/dashboard/invitations/some-token", "/dashboard/invitations/some-token"),
        ("http://testserver/dashboard/sessions", "/dashboard/"),
        ("foo", "/dashboard/"),
        ("sign-in", "/dashboard/"),  # the name of a route is no address
        ("https://evil.example/", "/dashboard/"),
        ("//evil.example/", "/dashboard/"),
        ("/\\evil.example/", "/dashboard/"),
        ("javascript:alert(1)", "/dashboard/"),
    ],
)
def test_the_browser_returns_to_the_requested_page_of_this_service_only(
    provider: FakeOpenIdProvider, wanted: str, reached: str
) -> None:
    assert sign_in(provider, "alice", next_page=wanted)["Location"] == reached


def test_a_protected_page_opens_after_the_sign_in(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    asked = browser.get("/dashboard/?all=1")["Location"]
    shown = browser.get(asked).content.decode()

    assert asked == "/dashboard/sign-in?next=/dashboard/%3Fall%3D1"
    assert 'name="next" value="/dashboard/?all=1"' in shown
    assert 'value=""' in browser.get("/dashboard/sign-in?next=//evil.example/").content.decode()


@pytest.mark.parametrize(
    ("claims", "in_id_token", "email", "verified"),
    [
        ({"email": "a@example.com", "email_verified": True}, ("email", "email_verified"), "a@example.com", True),
        ({"email": "a@example.com", "email_verified": "true"}, (), "a@example.com", True),
        ({"email": "a@example.com", "email_verified": "yes"}, (), "a@example.com", False),
        ({"email": "a@example.com", "email_verified": False}, (), "a@example.com", False),
        ({"email": "a@example.com"}, (), "a@example.com", False),
        # The address of one place with the other's word for it: proves nothing.
        ({"email": "a@example.com", "email_verified": True}, ("email",), "a@example.com", False),
        ({"email": "alice", "email_verified": True}, (), "", False),
        ({"email_verified": True}, (), "", False),
        # The KELVIN SIGN would fold into a k: no other letter is taken for one of ASCII.
        ({"email": "A\u212a@Example.com", "email_verified": True}, (), "a\u212a@example.com", True),
    ],
)
def test_an_address_is_verified_only_if_the_same_source_says_so(
    provider: FakeOpenIdProvider, claims: dict[str, Any], in_id_token: tuple[str, ...], email: str, verified: bool
) -> None:
    provider.add_person("carol", **claims)
    provider.in_id_token = in_id_token
    sign_in(provider, "carol")

    made = person(provider, "carol")
    assert (made.email, made.email_verified) == (email, verified)


def test_a_provider_without_userinfo_endpoint_works_with_the_token_alone(provider: FakeOpenIdProvider) -> None:
    provider.discovery_extra, provider.in_id_token = {"userinfo_endpoint": None}, tuple(ALICE)
    sign_in(provider, "alice")

    assert person(provider, "alice").email == ALICE["email"]


def test_signing_out_ends_all_sessions_of_the_user_only(provider: FakeOpenIdProvider, settings: Any) -> None:
    here, there, bob = (sign_in(provider, subject).client for subject in ("alice", "alice", "bob"))
    answer = send_form(here, "/dashboard/?all=1", "/dashboard/sign-out")

    assert (answer.status_code, answer["Location"]) == (302, "/dashboard/sign-in")
    assert [signed_in(browser) for browser in (here, there, bob)] == [False, False, True]
    assert signed_in(sign_in(provider, "alice", there).client)
    assert AuditEntry.objects.filter(operation="users.sign_out", actor_id=person(provider, "alice").pk).count() == 1


def test_the_consoles_sign_out_ends_all_sessions(provider: FakeOpenIdProvider, settings: Any) -> None:
    settings.OIDC_STAFF_CLAIM = "groups=operators"
    provider.add_person("alice", **ALICE, groups=["operators"])
    here, there = (sign_in(provider, "alice").client for _ in range(2))
    send_form(here, "/admin/", "/admin/logout/")

    assert not signed_in(there)


def test_a_closed_account_cannot_sign_in_and_its_sessions_end(provider: FakeOpenIdProvider) -> None:
    before = sign_in(provider, "alice").client
    User.objects.update(is_active=False)
    answer = sign_in(provider, "alice")

    assert answer.status_code == 403
    assert not signed_in(before)
    assert not signed_in(answer.client)


def test_a_deleted_users_next_sign_in_creates_a_new_user(provider: FakeOpenIdProvider, settings: Any) -> None:
    browser = sign_in(provider, "alice").client
    first = person(provider, "alice")
    token = provider.access_token("alice")
    assert ApiClient(token).delete(f"/users/{first.id}").status_code == 200
    assert not signed_in(browser)

    sign_in(provider, "alice")
    assert person(provider, "alice").pk != first.pk
    assert User.objects.get(pk=first.pk).identity_subject == ""


def test_a_user_without_address_has_a_placeholder_address_in_the_api(provider: FakeOpenIdProvider) -> None:
    provider.add_person("carol")
    sign_in(provider, "carol")
    made = person(provider, "carol")

    shown = ApiClient(provider.access_token("carol")).get(f"/users/{made.id}/export").json()["user"]
    assert shown["email"] == f"unknown+{made.id}@users.invalid"


@pytest.mark.parametrize(
    ("setting", "groups", "staff"),
    [
        ("groups=operators", ["people", "operators"], True),
        ("groups=operators", "operators", True),
        ("groups=operators", ["people"], False),
        ("groups=operators", "operators and more", False),
        ("groups=operators", None, False),
        ("groups=", [""], False),
        ("", ["operators"], False),
    ],
)
@pytest.mark.parametrize("in_id_token", [(), ("groups",)])
def test_the_staff_claim_makes_a_user_an_operator(
    provider: FakeOpenIdProvider, settings: Any, setting: str, groups: Any, staff: bool, in_id_token: tuple[str, ...]
) -> None:
    settings.OIDC_STAFF_CLAIM = setting
    provider.add_person("alice", **ALICE, groups=groups)
    provider.in_id_token = in_id_token
    browser = sign_in(provider, "alice").client

    made = person(provider, "alice")
    assert (made.is_staff, made.is_superuser) == (staff, staff)
    assert browser.get("/admin/").status_code == (200 if staff else 302)
    assert browser.session.get_expiry_age() == pytest.approx(12 * 3600 if staff else settings.SESSION_COOKIE_AGE, abs=60)


def test_a_former_operator_loses_the_status_at_the_next_sign_in(provider: FakeOpenIdProvider, settings: Any) -> None:
    settings.OIDC_STAFF_CLAIM = "groups=operators"
    provider.add_person("alice", **ALICE, groups=["operators"])
    sign_in(provider, "alice")
    provider.add_person("alice", **ALICE, groups=[])
    browser = sign_in(provider, "alice").client

    assert (person(provider, "alice").is_staff, person(provider, "alice").is_superuser) == (False, False)
    assert browser.get("/admin/").status_code == 302


def test_workspace_roles_do_not_open_the_console(owner: User, workspace: Workspace) -> None:
    browser = Client()
    browser.force_login(owner)

    assert browser.get("/admin/")["Location"].startswith("/admin/login/")


def test_starting_a_sign_in_needs_a_csrf_token(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()

    assert browser.get(BEGIN).status_code == 405
    assert browser.post(BEGIN).status_code == 403
    assert browser.post(CALLBACK).status_code in (403, 405)
    assert not provider.requests


def test_starting_sign_ins_is_rate_limited(provider: FakeOpenIdProvider, settings: Any) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 2
    browser = new_browser()
    answers = [send_form(browser, "/dashboard/sign-in", BEGIN).status_code for _ in range(3)]

    assert answers == [302, 302, 429]


@pytest.mark.parametrize("missing", ["OIDC_ISSUER", "OIDC_CLIENT_ID"])
def test_without_a_provider_the_sign_in_urls_are_not_found(provider: FakeOpenIdProvider, settings: Any, missing: str) -> None:
    setattr(settings, missing, "")
    browser = Client()

    assert (browser.post(BEGIN).status_code, browser.get(CALLBACK).status_code) == (404, 404)
    assert BEGIN not in browser.get("/dashboard/sign-in").content.decode()


def test_with_a_provider_development_links_and_tokens_do_not_work(provider: FakeOpenIdProvider, owner: User) -> None:
    assert Client().get(f"/dashboard/sign-in/{owner.id}/token").status_code == 404
    assert as_user(owner).get("/capabilities").status_code == 401
