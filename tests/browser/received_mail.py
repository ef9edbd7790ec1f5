"""Reads the e-mails that the service under test has sent to the mail server of the tests."""

from __future__ import annotations

import re
from email.message import EmailMessage

from tests.fakes.smtp import FakeMailServer
from tests.until import wait_until

SIGN_IN_OR_INVITATION = re.compile(r"http\S+/dashboard/(?:sign-in/link|invitations)/\S+")


def next_email(mail_server: FakeMailServer, pattern: re.Pattern[str]) -> EmailMessage:
    """Wait for an e-mail in whose text the pattern is found, and take it from the mail server; others are left there."""
    found: list[EmailMessage] = []

    def is_there() -> bool:
        found.extend([each for each in mail_server.messages if pattern.search(content(each, "plain"))][:1])
        return bool(found)

    wait_until(is_there)
    mail_server.messages.remove(found[0])
    return found[0]


def next_link(mail_server: FakeMailServer) -> str:
    """Return the link in the next e-mail that signs somebody in, or invites them."""
    link = SIGN_IN_OR_INVITATION.search(content(next_email(mail_server, SIGN_IN_OR_INVITATION), "plain"))
    assert link
    return link[0]


def content(email: EmailMessage, version: str) -> str:
    """Return one version of an e-mail, `plain` or `html`."""
    part = email.get_body((version,))
    assert part
    text: str = part.get_content()
    return text
