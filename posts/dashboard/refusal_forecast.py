"""Says before a post is sent whether caps or a missing payment method would refuse it."""

from __future__ import annotations

from datetime import datetime

from billing.prices import PublishingCharge
from billing.selectors import check_charges_against_caps
from config.api.errors import ApiError
from config.pages.sentences import error_sentences
from posts.models import PostGroup
from posts.validation import Validation


def sentence_if_caps_refuse(
    validation: Validation, *, workspace_id: str, group: PostGroup | None, due: datetime
) -> str | None:
    """Return why the charges of a validated post would be refused, as a sentence for people; None if they would not be.

    What the edited `group` has reserved counts as released.
    """
    billed = [each.target for each in validation.targets if not each.target.sandbox]
    charges = [
        PublishingCharge(each.account.id, each.account.platform, each.price_cents, each.billed_posts_with_url_count)
        for each in billed
    ]
    if not any(each.cents or each.url_posts for each in charges):
        return None
    try:
        check_charges_against_caps(
            workspace_id=workspace_id,
            agent_id=group.agent_id if group else None,
            charges=charges,
            due=due,
            instead_of=[each.id for each in group.targets.all()] if group else (),
        )
    except ApiError as error:
        return error_sentences(error, "posts.create")[0]
    return None
