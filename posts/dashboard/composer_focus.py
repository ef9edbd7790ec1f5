"""What gets the focus when the composer page is shown again after a button of it was clicked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from posts.dashboard.thread_fields import ThreadFocus

TEXT, FILE, ALT_TEXT_OF = "text", "file", "alt-"
ACCOUNT_CHOICE = "account"
_THREAD_PART = re.compile(r"thread\[(\d{1,3})\]")


@dataclass(frozen=True)
class ComposerFocus:
    """The control of the composer that gets the focus: a field in the tab of an account, or one that all accounts share.

    In a tab, `field` is TEXT or the name of a platform option; ACCOUNT_CHOICE is the check box that chooses the account, and
    `thread` is a control of the account's thread. Shared fields are TEXT, FILE, and ALT_TEXT_OF with the id of a file.
    """

    account_id: str = ""
    field: str = ""
    thread: ThreadFocus | None = None

    @classmethod
    def of_button(cls, subject: str) -> ComposerFocus:
        """Return the focus that a button names with which a person goes to a field, such as `acc_1:title`, or `:text`."""
        account_id, _colon, field = subject.partition(":")
        part = _THREAD_PART.fullmatch(field)
        return cls(account_id, thread=ThreadFocus("text", int(part[1]))) if part else cls(account_id, field)

    @property
    def opens_tab(self) -> bool:
        """Return whether this ComposerFocus is in a tab, of an account or of all accounts, which is then opened."""
        in_tab_of_account = bool(self.account_id) and self.field not in ("", ACCOUNT_CHOICE)
        return in_tab_of_account or self.thread is not None or self.shared_field == TEXT

    @property
    def shared_field(self) -> str:
        """Return the field shared by all accounts that gets the focus; an empty string for none."""
        return "" if self.account_id else self.field

    @property
    def account_choice_id(self) -> str:
        """Return the account whose check box gets the focus; an empty string for none."""
        return self.account_id if self.field == ACCOUNT_CHOICE else ""

    def field_in_tab_of(self, account_id: str) -> str:
        """Return the field in the tab of an account that gets the focus; an empty string for none, or a part of a thread."""
        return self.field if self.account_id == account_id and self.opens_tab else ""
