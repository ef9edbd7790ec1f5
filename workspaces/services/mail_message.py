"""The content of an e-mail to a person, and its two versions, plain text and HTML, which say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext

MAX_NAME_LENGTH = 80


@dataclass(frozen=True)
class MailListItem:
    """One item in the list of an e-mail: what it is about, a detail, and the URL of its page.

    An item that waits for a decision has the URLs at which a person approves or rejects it.
    """

    text: str
    detail: str = ""
    address: str = ""
    approve_address: str = ""
    reject_address: str = ""

    @property
    def links(self) -> list[tuple[str, str]]:
        """Return the links of this item in an e-mail's list, as labels with URLs: to approve and reject, or else to open."""
        decisions = [(gettext("Approve"), self.approve_address), (gettext("Reject"), self.reject_address)]
        return [(label, address) for label, address in decisions if address] or [(gettext("Open"), self.address)] * bool(
            self.address
        )


@dataclass(frozen=True)
class MailMessage:
    """The content of an e-mail: what happened, what the reader can do, the one button for it, and until when.

    `workspace_name` is "" for an e-mail that is not about a workspace. `reason` says why the reader gets the e-mail, and
    `choices_address` is the page on which the reader can turn it off.
    """

    subject: str
    workspace_name: str
    happened: str
    todo: str
    button: str
    address: str
    until: str
    reason: str
    items: Sequence[MailListItem] = ()
    choices_address: str = ""

    @property
    def service_name(self) -> str:
        """Return the name of this service, which each e-mail begins with."""
        return str(settings.SPECTACULAR_SETTINGS["TITLE"])

    def plain_text(self) -> str:
        """Return the plain-text version of this e-mail."""
        listed = "\n".join(_listed(item) for item in self.items)
        paragraphs = [
            " · ".join(filter(None, (self.service_name, self.workspace_name))),
            self.happened,
            *([listed] if listed else []),
            f"{self.todo}\n{self.button}: {self.address}",
            self.until,
            f"--\n{self.reason}" + (f"\n{self.choices_address}" if self.choices_address else ""),
        ]
        return "\n\n".join(paragraphs) + "\n"

    def html(self) -> str:
        """Return the HTML version of this e-mail: a page with inline styles, which loads nothing from anywhere."""
        return render_to_string("workspaces/mail.html", {"message": self})


def short_printable_name(name: str) -> str:
    """Return a name that a user chose as one short line of an e-mail's content, without unprintable characters."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())
    return line if len(line) <= MAX_NAME_LENGTH else f"{line[: MAX_NAME_LENGTH - 1]}…"


def _listed(item: MailListItem) -> str:
    links = [f"{label}: {address}" for label, address in item.links] if item.approve_address else [item.address]
    return "\n  ".join(part for part in (f"- {item.text}", item.detail, *links) if part)
