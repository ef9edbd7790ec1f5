"""The account marks beside posts on long pages: an account's picture with its platform's icon, or only the icon."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import ConnectedAccount
from accounts.platforms.marks import platform_mark_from_sprite, platform_mark_sprite
from workspaces.workspace_page import WorkspacePage

MAX_MARKS = 6  # of one post


class HasPlatformAndAccountId(Protocol):
    """The columns of a post target that AccountMarks needs for the account's picture and platform icon."""

    @property
    def platform(self) -> str: ...
    @property
    def account_id(self) -> str: ...


class AccountMarks:
    """The small account pictures with platform icons beside a page's posts; made once for posts with the same accounts.

    `targets` are those of all these posts: one query reads the pictures of their accounts. Without `targets` there is no
    query, and the marks are platform icons only. The page must have the `sprite`, which can be made when all marks are.
    """

    def __init__(self, page: WorkspacePage, targets: Iterable[HasPlatformAndAccountId] = ()) -> None:
        self._platforms: set[str] = set()
        self._accounts_address = page.url_of_page("accounts")
        self._made: dict[tuple[tuple[str, str], ...], SafeString] = {}
        accounts = ConnectedAccount.objects.filter(pk__in={each.account_id for each in targets}).exclude(avatar_digest="")
        pictured = accounts.values_list("pk", "avatar_digest", "handle", "external_id")
        self._pictures = {pk: (digest, handle or external_id) for pk, digest, handle, external_id in pictured}

    def marks_of_post(self, targets: Iterable[HasPlatformAndAccountId]) -> SafeString:
        """Return the account marks beside a post; accounts of one platform that have no picture share one mark, an icon."""
        shown = tuple(
            dict.fromkeys((each.platform, each.account_id if each.account_id in self._pictures else "") for each in targets)
        )
        if shown not in self._made:
            self._made[shown] = self._marks(shown)
        return self._made[shown]

    def sprite(self, further: Iterable[str] = ()) -> SafeString:
        """Return the invisible SVG that defines the platform icons of these AccountMarks, and further platforms' icons."""
        return platform_mark_sprite(tuple(sorted(self._platforms.union(further))))

    def _marks(self, accounts: tuple[tuple[str, str], ...]) -> SafeString:
        marks = SafeString("".join(self._mark(*each) for each in accounts[:MAX_MARKS]))
        hidden = len(accounts) - MAX_MARKS
        return format_html('{}<span class="quiet">+{}</span>', marks, hidden) if hidden > 0 else marks

    def _mark(self, platform: str, account_id: str) -> SafeString:
        self._platforms.add(platform)
        mark = platform_mark_from_sprite(platform)
        if not account_id:
            return mark
        picture = '<img class="avatar" src="{}/{}/avatar/{}" alt="{}" width="24" height="24" loading="lazy">'
        return format_html(
            '<span class="account-avatar small">{}{}</span>',
            format_html(picture, self._accounts_address, account_id, *self._pictures[account_id]),
            mark,
        )
