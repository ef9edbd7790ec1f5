"""First comments on posts at Meta's products (Facebook, Instagram); the post stays published if its comment fails.

Sources: developers.facebook.com, graph-api/reference/object/comments,
instagram-platform/instagram-graph-api/reference/ig-media/comments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, ReauthRequired
from accounts.platforms.meta.errors import Meaning, MetaErrorTranslator
from accounts.platforms.meta.graph import GraphClientAndAccountId, id_of, is_same_text
from accounts.platforms.types import Content, MissingFromListProof, NotPublishedProof, Progress, Published


@dataclass(frozen=True)
class FirstCommentSteps:
    """The first comments that an adapter adds to posts at one of Meta's products: creating them, and finding them."""

    errors: MetaErrorTranslator
    text_field: str  # the field with a comment's text
    params: Mapping[str, str]  # parameters of the request that lists the comments below a post
    max_pages: int
    kind_evidence: str  # the documentation that says that all comments are listed (MissingFromListProof)
    unreadable: tuple[Meaning, ...] = ("permission",)  # errors by which the product permanently refuses the list

    def comment_step_or_published(self, content: Content, progress: Progress, published: Published) -> Progress | Published:
        """Return the step that creates the first comment on a Meta post, or the post itself if no comment is wanted."""
        if "first_comment" not in content.options or published.note:
            return published
        return replace(progress, published=published).with_next_step("comment", {"since": progress.state["since"]})

    def create_comment(self, account: GraphClientAndAccountId, content: Content, progress: Progress) -> Published:
        """Create the first comment on a post that is published at one of Meta's products.

        Raises platform errors, which are about the comment only.
        """
        post = progress.published
        assert post  # noqa: S101 - the step before has published the post
        path, text = f"/{post.external_id}/comments", content.options["first_comment"]
        try:
            with self.errors.translating_publish_errors(gettext_noop("the first comment")):
                id_of(account.graph.post_form(path, {"message": text}))
        except ReauthRequired as error:  # an account that may publish is not necessarily allowed to comment
            raise ContentRejected(f"The first comment was not created. {error.message}") from error
        return post

    def find_or_rule_out_first_comment(
        self, account: GraphClientAndAccountId, content: Content, progress: Progress
    ) -> Published | NotPublishedProof:
        """Find the first comment that an interrupted attempt may have added to a Meta post, or prove that it is missing."""
        too_long = OutcomeUnknown(gettext_noop("There are too many comments below the post to find this one."), final=True)
        post = progress.published
        assert post  # noqa: S101 - the step before has published the post
        path, text = f"/{post.external_id}/comments", content.options["first_comment"]
        with self.errors.translating_search_errors(gettext_noop("the comments below the post"), self.unreadable):
            for each in account.graph.iterate_objects(path, self.params, max_pages=self.max_pages, too_long=too_long):
                author = each.get("from")
                by_account = not isinstance(author, dict) or author.get("id") == account.id
                if by_account and is_same_text(each.get(self.text_field), text):
                    return post
        return NotPublishedProof(
            MissingFromListProof(back_to="the first comment below the post", kind_evidence=self.kind_evidence)
        )
