"""The people whom the composer offers to mention, as the platform of a chosen account finds them by name or handle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.text import get_text_list
from django.utils.translation import gettext, ngettext

from accounts import services
from accounts.models import ConnectedAccount
from accounts.platforms.people import Person
from accounts.platforms.registry import platform_label
from accounts.services.people import MAX_TEXT_CHARACTERS
from config.api.errors import ApiError
from posts.dashboard.composer_content import capabilities_of_account
from workspaces.workspace_page import WorkspacePage

FIND_PEOPLE = "people"


@dataclass
class PeopleToMention:
    """The composer's list of people to mention, whose buttons insert their handles into the text.

    Only one account is asked: that of the open tab or, in the tab of all accounts, the first chosen one that finds people.
    """

    page: WorkspacePage
    accounts: Sequence[ConnectedAccount]  # that can be chosen
    chosen: Sequence[ConnectedAccount]
    open_tab_account_id: str  # the id of its account; empty for the tab of all accounts

    @property
    def platform_labels(self) -> list[str]:
        """Return the platforms of the workspace's accounts at which people to mention can be found, by their labels."""
        return list(dict.fromkeys(platform_label(account.platform) for account in self.accounts if _finds_people(account)))

    @property
    def platforms_in_words(self) -> str:
        """Return the labels of the platforms at which people to mention can be found, such as "Bluesky or Mastodon"."""
        return get_text_list(self.platform_labels, gettext("or"))

    @property
    def search_words(self) -> str:
        """Return the name or handle by which people to mention are looked up."""
        return self.page.request.POST.get("people_words", "")[:MAX_TEXT_CHARACTERS]

    @property
    def is_search_requested(self) -> bool:
        """Return whether the request searches for people to mention: by the button, or by Enter (action `check`)."""
        is_asked = self.page.request.POST.get("action") in (FIND_PEOPLE, "check")
        return is_asked and bool(self.search_words.strip().removeprefix("@"))

    @property
    def found_people(self) -> list[Person]:
        return self._answer[0]

    @property
    def result_sentence(self) -> str:
        """Return in a sentence what the look-up of people to mention has found, or why it has not."""
        return self._answer[1]

    @cached_property
    def _answer(self) -> tuple[list[Person], str]:
        if not self.is_search_requested:
            return [], ""
        account = self._account_to_ask
        if account is None:
            return [], self._why_nobody_is_asked
        label = platform_label(account.platform)
        try:
            people = services.find_people(caller=self.page.caller, account_id=account.id, text=self.search_words)
        except ApiError:
            return [], gettext("The look-up is not available at the moment.")
        if not people:
            return [], gettext("Nobody on %(platform)s was found by this name or handle.") % {"platform": label}
        counted = ngettext("%(count)d person on %(platform)s.", "%(count)d people on %(platform)s.", len(people))
        said = counted % {"count": len(people), "platform": label}
        is_for_others = not self.open_tab_account_id and {each.platform for each in self.chosen} != {account.platform}
        warning = gettext("On other platforms, the mention is plain text.") if is_for_others else ""
        return people, f"{said} {warning}".strip()

    @property
    def _account_to_ask(self) -> ConnectedAccount | None:
        candidates = [each for each in self.chosen if self.open_tab_account_id in ("", each.id) and _finds_people(each)]
        return min(candidates, key=lambda each: each.status != ConnectedAccount.Status.ACTIVE, default=None)

    @property
    def _why_nobody_is_asked(self) -> str:
        tab = next((each for each in self.chosen if each.id == self.open_tab_account_id), None)
        if tab:
            return gettext("%(platform)s has no look-up of people.") % {"platform": platform_label(tab.platform)}
        words = gettext("Choose an account on %(platforms)s to find people there.")
        return words % {"platforms": self.platforms_in_words}


def _finds_people(account: ConnectedAccount) -> bool:
    return capabilities_of_account(account).finds_people
