"""Outgoing e-mail: sending, retries, giving up, deletion of the content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
import time_machine
from django.conf import settings as configured
from django.db import connection
from django.utils.module_loading import import_string

from tests.fakes.smtp import FakeMailServer
from workspaces.models import OutgoingMail
from workspaces.services import MailListItem, MailMessage, queue_mail
from workspaces.services.mail import MAIL_LEASE, MAIL_LOOP, MAX_ATTEMPTS, RETRY_DELAYS, claim_next_mail
from workspaces.worker_loop import MailLoop

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
MESSAGE = MailMessage(
    subject="Hello\r\nBcc: x@example.com",
    workspace_name="Workshop",
    happened="A line.\n.\nÜnd more.",
    items=[MailListItem("<b>Bold</b> & more", "a detail", "https://posts.example/1?a=1&b=2")],
    todo="Do something.",
    button="Do it",
    address="https://posts.example/all",
    until="Until tomorrow.",
    reason="You get this as a test.",
    choices_address="https://posts.example/notices",
)
TEXT = """Social Publishing Service · Workshop

A line.
.
Ünd more.

- <b>Bold</b> & more
  a detail
  https://posts.example/1?a=1&b=2

Do something.
Do it: https://posts.example/all

Until tomorrow.

--
You get this as a test.
https://posts.example/notices
"""
pytestmark = pytest.mark.django_db


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def server(settings: Any, clock: Any) -> Iterator[FakeMailServer]:
    """The mail server that EMAIL_URL names."""
    with FakeMailServer() as fake:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", fake.port
        yield fake


@pytest.fixture
def mail(clock: Any) -> OutgoingMail:
    return queue_mail(to="alice@example.com", message=MESSAGE)


def work() -> bool:
    """Run the mail loop once and return whether there was an e-mail to send."""
    return MailLoop().run_once()


def row() -> Any:
    return OutgoingMail.objects.values("attempts", "due_at", "content", "sent_at", "last_error", "lease_until").get()


def test_the_worker_runs_the_mail_loop() -> None:
    assert import_string(configured.WORKER_LOOPS[MAIL_LOOP]) is MailLoop


def test_a_message_is_sent_once_and_its_content_deleted(server: FakeMailServer, mail: OutgoingMail, settings: Any) -> None:
    settings.DEFAULT_FROM_EMAIL = "Service <service@example.com>"
    assert [work(), work()] == [True, False]

    [sent] = server.messages
    assert (sent["To"], sent["From"]) == ("alice@example.com", "Service <service@example.com>")
    assert sent["Subject"] == "Hello Bcc: x@example.com"  # in one line: nobody writes headers through a subject
    assert sent["Bcc"] is None
    assert sent["Auto-Submitted"] == "auto-generated"
    assert sent["List-Unsubscribe"] == "<https://posts.example/notices>"
    settled = {"due_at": None, "content": None, "sent_at": NOON, "last_error": "", "lease_until": None}
    assert row() == {"attempts": 1, **settled}


def test_a_message_has_a_plain_text_and_an_html_version_that_say_the_same(server: FakeMailServer, mail: OutgoingMail) -> None:
    work()

    [sent] = server.messages
    assert sent.get_content_type() == "multipart/alternative"
    text, page = (part.get_content() for part in sent.iter_parts())
    assert text == TEXT
    assert "<b>" not in page
    assert not re.search(r"<(img|link|script)\b|url\(", page)  # nothing is loaded from anywhere
    shown = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))
    links = " ".join(re.findall(r'href="([^"]+)"', page))
    words = " ".join((shown + unescape(links)).split())
    missing = [line for line in TEXT.replace("Do it: ", "Do it\n").splitlines() if line.strip("- ") not in words]
    assert missing == []


def test_plain_text_that_an_earlier_version_queued_is_sent(server: FakeMailServer, clock: Any) -> None:
    content = {"to": "alice@example.com", "subject": "Hello", "text": "A line.\n"}
    OutgoingMail.objects.create(content=content, due_at=NOON)
    work()

    [sent] = server.messages
    assert (sent.get_content_type(), sent.get_content()) == ("text/plain", "A line.\n")
    assert sent["List-Unsubscribe"] is None


def test_queued_content_is_encrypted(mail: OutgoingMail) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM workspaces_outgoingmail")
        stored = str(cursor.fetchall())

    assert "alice" not in stored
    assert "A line" not in stored


@pytest.mark.parametrize(
    "refusals",
    [[("RCPT", 451)], [("DATA", 451)], [("CONTENT", 452)], [("MAIL", 421)]],
    ids=["greylisted", "later", "content refused for now", "busy"],
)
def test_a_failed_attempt_is_retried_later(
    server: FakeMailServer, mail: OutgoingMail, clock: Any, refusals: list[tuple[str, int]], caplog: Any
) -> None:
    server.refusals = refusals
    assert work()

    assert (row()["attempts"], row()["due_at"], row()["sent_at"]) == (1, NOON + RETRY_DELAYS[0], None)
    assert not work()
    assert "alice" not in caplog.text
    clock.shift(RETRY_DELAYS[0])
    assert work()
    assert (len(server.messages), row()["attempts"], row()["content"]) == (1, 2, None)


@pytest.mark.parametrize(
    ("command", "code"), [("RCPT", 550), ("DATA", 554), ("CONTENT", 552)], ids=["unknown address", "no data", "content"]
)
def test_what_the_mail_server_refuses_for_ever_is_given_up_at_once(
    server: FakeMailServer, mail: OutgoingMail, caplog: Any, command: str, code: int
) -> None:
    server.refusals = [(command, code)]
    assert work()

    mail.refresh_from_db()
    assert (mail.is_given_up, mail.content, mail.last_error) == (True, None, f"refused with {code}")
    assert "alice" not in caplog.text


def test_an_unreachable_server_is_retried_for_hours_and_then_given_up(mail: OutgoingMail, clock: Any, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with FakeMailServer() as gone:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", gone.port
    for pause in RETRY_DELAYS:
        assert work()
        assert (row()["due_at"], row()["last_error"]) == (datetime.now(UTC) + pause, "ConnectionRefusedError")
        clock.shift(pause)
    assert work()

    mail.refresh_from_db()
    assert (mail.attempts, mail.is_given_up, mail.content) == (MAX_ATTEMPTS, True, None)
    clock.shift(timedelta(days=1))
    assert not work()


def test_a_message_that_kills_its_workers_is_given_up(mail: OutgoingMail, clock: Any) -> None:
    for _ in range(MAX_ATTEMPTS):
        assert claim_next_mail() is not None
        assert claim_next_mail() is None  # nobody else gets it meanwhile
        clock.shift(MAIL_LEASE)

    assert claim_next_mail() is None
    mail.refresh_from_db()
    assert (mail.is_given_up, mail.last_error) == (True, "no attempt finished")
