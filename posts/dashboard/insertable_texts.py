"""What the composer offers to insert into a text: the snippets of the workspace, and emoji."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from posts.dashboard.emoji_list import emoji_groups
from posts.dashboard.people_to_mention import FIND_PEOPLE
from workspaces.models import Snippet
from workspaces.selectors import snippets_of_workspace
from workspaces.workspace_page import WorkspacePage

# The templates of the lists that a search field renews, by the action of its button.
TEMPLATES_OF_SEARCHED_LISTS = {"emoji": "posts/compose_emoji.html", FIND_PEOPLE: "posts/compose_people_found.html"}


@dataclass
class InsertableTexts:
    """Snippets and emoji listed beside the composer's text fields; each has a button (action `insert`) that inserts it."""

    page: WorkspacePage

    @cached_property
    def snippets(self) -> list[Snippet]:
        return list(snippets_of_workspace(workspace_id=self.page.workspace.id))

    @property
    def emoji_search_query(self) -> str:
        """Return the words that were typed into the emoji search of these insertable texts."""
        return self.page.request.POST.get("emoji_words", "")

    @property
    def emoji_groups(self) -> dict[str, list[tuple[str, str]]]:
        return emoji_groups(self.emoji_search_query)
