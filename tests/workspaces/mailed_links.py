"""Requests and uses links for signing in by e-mail, as people do."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django.core import mail
from django.test import Client

from tests.workspaces.browsers import new_browser, send_form
from workspaces.worker_loop import MailLoop

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
PAGE, REQUEST = "/dashboard/sign-in", "/dashboard/sign-in/link"
ADDRESS = "ada@example.com"
LINK = re.compile(r"http://127\.0\.0\.1:8000(/dashboard/sign-in/link/[\w-]{43}\S*)")


def request_link(email: str = ADDRESS, next_page: str = "", browser: Client | None = None) -> Any:
    """Request a link on the sign-in page and return the answer."""
    return send_form(browser or new_browser(), PAGE, REQUEST, email=email, next=next_page)


def sent_links() -> list[str]:
    """Let the worker send the queued e-mails, and return the paths of the sign-in links in all e-mails so far."""
    while MailLoop().run_once():
        pass
    return [path for message in mail.outbox for path in LINK.findall(str(message.body))]


def link_for(email: str = ADDRESS, next_page: str = "") -> str:
    request_link(email, next_page)
    return sent_links()[-1]


def use(link: str, browser: Client | None = None) -> Any:
    """Open a link and press its button; return the answer."""
    return send_form(browser or new_browser(), link, link)
