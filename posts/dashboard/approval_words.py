"""What dashboard pages say when an editor who needs approval has moved posts, which then wait for approval again."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from posts.models import PostGroup
from posts.states import GroupStatus
from workspaces.workspace_page import WorkspacePage


def awaits_approval_message_with_time(time: str = "") -> str:
    """Return the message that an edited post now waits for approval, with the time at which it is then published."""
    if not time:
        return _("The post waits for the approval of an owner or admin.")
    return _("The post waits for the approval of an owner or admin for %(time)s.") % {"time": time}


def needs_approval_if_moved(page: WorkspacePage, group: PostGroup) -> bool:
    """Return whether pages must say that a post needs approval again, once the signed-in person has moved it.

    The post is as before or after the move: a draft stays one, and another post of such an editor waits for approval.
    """
    return page.caller.needs_approval and group.status != GroupStatus.DRAFT


def move_undone_message(page: WorkspacePage, group: PostGroup) -> str:
    """Return the message that a move was undone: the post has its former time, and whether it needs approval for it."""
    return moved_message_with_approval_count(
        _("Undone: the post has its former time again."), count_needing_approval_if_moved(page, [group]), 1
    )


def count_needing_approval_if_moved(page: WorkspacePage, groups: Iterable[PostGroup]) -> int:
    """Count, for the message about moved posts, those that need approval once the signed-in person has moved them."""
    return sum(needs_approval_if_moved(page, group) for group in groups)


def moved_message_with_approval_count(moved: str, waiting: int, total: int) -> str:
    """Return a message such as "3 posts moved.", which also says how many of the `total` moved posts now need approval."""
    if waiting and waiting == total:
        words = ngettext("%(moved)s, and waits for approval.", "%(moved)s, and wait for approval.", total)
        return words % {"moved": moved.removesuffix(".")}
    return f"{moved} {sentence_on_moved_posts_awaiting_approval(waiting, total)}".strip()


def sentence_on_moved_posts_awaiting_approval(waiting: int, total: int) -> str:
    """Return the sentence on how many of the `total` moved posts wait for approval; empty if none does."""
    if not waiting:
        return ""
    if waiting < total:
        words = ngettext("%(count)d of them waits for approval.", "%(count)d of them wait for approval.", waiting)
        return words % {"count": waiting}
    return ngettext("It waits for approval.", "They wait for approval.", total)
