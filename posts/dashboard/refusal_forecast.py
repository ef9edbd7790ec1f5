"""Says before a post is sent whether spend caps or a missing payment method would refuse it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from billing.prices import PublishingCharge
from billing.selectors import check_charges_against_caps_by_due_time
from config.api.errors import ApiError
from config.pages.sentences import error_sentences
from posts.models import PostGroup
from posts.validation import Validation


def sentence_if_caps_refuse(
    validation: Validation,
    *,
    workspace_id: str,
    group: PostGroup | None,
    due: datetime,
    own_times: Mapping[str, datetime],
) -> str | None:
    """Return why the charges of a validated post would be refused, as a sentence for people; None if they would not be.

    `own_times` has the times of single accounts by their ids; the others, also those that take their next slot, are due at
    `due`. What the edited `group` has reserved counts as released.
    """
    charges: dict[datetime, list[PublishingCharge]] = {}
    for target in (each.target for each in validation.targets if not each.target.sandbox):
        account = target.account
        charge = PublishingCharge(account.id, account.platform, target.price_cents, target.billed_posts_with_url_count)
        if charge.cents or charge.url_posts:
            charges.setdefault(own_times.get(account.id, due), []).append(charge)
    if not charges:
        return None
    try:
        check_charges_against_caps_by_due_time(
            workspace_id=workspace_id,
            agent_id=group.agent_id if group else None,
            parts=sorted(charges.items()),
            instead_of=[each.id for each in group.targets.all()] if group else (),
        )
    except ApiError as error:
        return error_sentences(error, "posts.create")[0]
    return None
