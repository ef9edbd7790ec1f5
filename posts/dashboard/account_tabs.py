"""The composer's tabs: one for each chosen account, with its text, its options, and how much longer the text may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accounts.dashboard.poll_option import option_schema_with_poll_in_words
from accounts.models import ConnectedAccount
from accounts.platforms.registry import get_adapter
from accounts.platforms.thread_option import texts_after_first_segment
from posts.dashboard.checked_content import TargetCheckAndPreview
from posts.dashboard.composer_content import capabilities_of_account
from posts.dashboard.composer_focus import TEXT
from posts.dashboard.forms import PlatformOptionsForm, ScheduleForm
from posts.dashboard.thread_fields import ThreadFocus, separate_thread_from_options

if TYPE_CHECKING:
    from posts.dashboard.composer_state import Composer


@dataclass(frozen=True)
class AccountTab:
    """The tab of an account that is chosen in the composer, with the text and options that the form has for this account."""

    account: ConnectedAccount
    label: str
    text: str | None
    typed: str  # what its text field contains, even if the account does not use a different text
    options: PlatformOptionsForm
    schedule: ScheduleForm
    in_slot: bool
    segments: list[str]  # the texts of a thread after the first
    may_have_thread: bool
    thread_unproven: str  # warning about this target's thread; empty without a thread
    focused: bool  # its text gets the focus
    thread_focus: ThreadFocus | None
    open: bool
    check: TargetCheckAndPreview | None


def account_tab(composer: Composer, target: dict[str, Any], account: ConnectedAccount) -> AccountTab:
    """Return the composer's tab of a chosen account; `target` is its content in the format of POST /posts."""
    capabilities = capabilities_of_account(account)
    thread, sent = capabilities.thread, composer.sent
    focused = composer.focus.field_in_tab_of(account.id)
    options, segments = separate_thread_from_options(capabilities, target["options"])
    return AccountTab(
        account=account,
        label=get_adapter(account.platform).label,
        text=target["text"],
        typed=sent.get(f"text-{account.id}", "") if target["text"] is None and sent else target["text"] or "",
        options=PlatformOptionsForm(
            option_schema_with_poll_in_words(capabilities), prefix=account.id, options=options, focused=focused
        ),
        schedule=composer.account_times.forms[account.id],
        in_slot=account.id in composer.account_times.in_slots,
        segments=segments,
        may_have_thread=thread is not None,
        thread_unproven=thread.unproven if thread and texts_after_first_segment(target["options"]) else "",
        focused=focused == TEXT,
        thread_focus=composer.focus.thread if account.id == composer.focus.account_id else None,
        open=account.id == composer.open_tab_account_id,
        check=next((each for each in composer.checked_targets if each.account.id == account.id), None),
    )
