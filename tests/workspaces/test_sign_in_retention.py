"""Retention of sign-in states, sessions, invitations, e-mail and deleted identities."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings as configured
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils.module_loading import import_string
from social_django.models import Association, Nonce

from config.api.caller import Caller
from tests.conftest import ApiClient
from tests.fakes.openid import FakeOpenIdProvider
from tests.workspaces.browsers import begin, new_browser
from workspaces import services
from workspaces.models import EndedIdentity, OutgoingMail, SignInLink, User, Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
RULES = [path for path in configured.RETENTION if path.startswith("workspaces.retention.")]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def purge() -> dict[str, int]:
    """Run the retention rules once and return the number of deleted rows by rule."""
    rules = [import_string(path)() for path in RULES]
    found = {rule.name: rule.count() for rule in rules}
    assert {rule.name: rule.purge(100) for rule in rules} == found
    return {name: count for name, count in found.items() if count}


def test_an_unfinished_sign_in_is_deleted_after_a_day(provider: FakeOpenIdProvider, clock: Any) -> None:
    begin(new_browser())
    assert (Nonce.objects.count(), Association.objects.count()) == (1, 1)
    clock.shift(timedelta(minutes=29))
    assert purge() == {}
    clock.shift(timedelta(hours=24))

    assert purge() == {"sign_in_states": 1, "sign_in_nonces": 1}


def test_an_expired_session_is_deleted(owner: User, clock: Any) -> None:
    Client().force_login(owner)
    clock.shift(timedelta(days=13))
    assert purge() == {}
    clock.shift(timedelta(days=2))

    assert purge() == {"sessions": 1}
    assert not Session.objects.exists()


def test_an_invitation_and_its_mail_are_deleted_after_a_month(workspace: Workspace, owner: User, clock: Any) -> None:
    for email in ("a@example.com", "b@example.com"):
        services.invite_member(caller=Caller("user", owner.id), workspace_id=workspace.id, email=email, role="member")
    sent = OutgoingMail.objects.earliest("created_at")
    OutgoingMail.objects.filter(pk=sent.pk).update(due_at=None, sent_at=NOON)
    clock.shift(timedelta(days=31))
    assert purge() == {"mail": 1}  # the other still waits to be sent
    clock.shift(timedelta(days=7))

    assert purge() == {"invitations": 2}


def test_a_sign_in_link_is_deleted_a_day_after_it_expired(db: None, clock: Any) -> None:
    SignInLink.objects.create(token_sha256="0" * 64, email="a@example.com", expires_at=NOON)
    clock.shift(timedelta(days=1))
    assert purge() == {}
    clock.shift(timedelta(seconds=1))

    assert purge() == {"sign_in_links": 1}


def test_a_deleted_identity_is_removed_after_a_month(provider: FakeOpenIdProvider, clock: Any) -> None:
    client = ApiClient(provider.access_token("alice", exp=int(NOON.timestamp()) + 60, iat=None))
    client.get("/workspaces?owner_user_id=usr_01jd0000000000000000000000")
    client.delete(f"/users/{User.objects.get().id}")
    assert EndedIdentity.objects.count() == 1
    clock.shift(timedelta(days=29))
    assert "ended_identities" not in purge()
    clock.shift(timedelta(days=2))

    assert purge()["ended_identities"] == 1
