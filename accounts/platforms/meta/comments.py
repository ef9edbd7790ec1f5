"""The first comment below a post: whatever becomes of it, the post stays published.

Sources: developers.facebook.com, graph-api/reference/object/comments,
instagram-platform/instagram-graph-api/reference/ig-media/comments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.errors import AccountDisconnected, ContentRejected, OutcomeUnknown
from accounts.platforms.meta.errors import Meaning, MetaErrors
from accounts.platforms.meta.graph import Account, id_of
from accounts.platforms.meta.matching import same_text
from accounts.platforms.types import OUT, Absent, CompleteList, Content, Progress, Published


@dataclass(frozen=True)
class FirstComments:
    """Creates and finds first comments at one of Meta's products."""

    errors: MetaErrors
    text_field: str  # of a comment
    params: Mapping[str, str]  # that list the comments below a post
    max_pages: int
    kind_listed: str  # which documentation says that all comments are listed (CompleteList)
    unreadable: tuple[Meaning, ...] = ("permission",)  # errors by which the product refuses the list for good

    def following(self, content: Content, state: Mapping[str, Any], published: Published) -> Progress | Published:
        """The published post, or the step that creates its first comment."""
        if "first_comment" not in content.options or published.note:
            return published
        post = {"external_id": published.external_id, "permalink": published.permalink}
        return Progress("comment", {"since": state["since"], OUT: post})

    def create(self, account: Account, content: Content, state: Mapping[str, Any]) -> Published:
        """Comment below the post. Raises platform errors, which are about the comment alone."""
        path, text = f"/{state[OUT]['external_id']}/comments", content.options["first_comment"]
        try:
            with self.errors.publish_errors("the first comment"):
                id_of(account.graph.post_form(path, {"message": text}))
        except AccountDisconnected as error:  # an account that may publish need not be allowed to comment
            raise ContentRejected(f"The first comment was not created. {error.message}") from error
        return Published(**state[OUT])

    def find(self, account: Account, content: Content, state: Mapping[str, Any]) -> Published | Absent:
        """The post, if an earlier attempt has commented; Absent if not. Raises OutcomeUnknown, TokenExpired, Transient."""
        too_long = OutcomeUnknown("There are too many comments below the post to find this one.", final=True)
        path, text = f"/{state[OUT]['external_id']}/comments", content.options["first_comment"]
        with self.errors.search_errors("the comments below the post", self.unreadable):
            for each in account.graph.list_all(path, self.params, max_pages=self.max_pages, too_long=too_long):
                author = each.get("from")
                by_account = not isinstance(author, dict) or author.get("id") == account.id
                if by_account and same_text(each.get(self.text_field), text):
                    return Published(**state[OUT])
        return Absent(CompleteList(back_to="the first comment below the post", kind_listed=self.kind_listed))
