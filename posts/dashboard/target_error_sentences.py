"""Sentences for people about the error of a post's target, made from the error's code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.platforms import errors
from config.pages.message_templates import translated_message
from config.pages.sentences import has_words_for_programmers_only
from posts.states import TargetStatus

# By code: what has happened. The messages of all other codes come from the platform, or name no words of the API.
SENTENCES_BY_CODE = {
    "PLATFORM_RATE_LIMITED": gettext_lazy("%(platform)s accepts no more posts at the moment."),
    "WORKSPACE_DELETED": gettext_lazy("The workspace was deleted before the post was published."),
}
# By code: what is shown in place of a message with words that only programs understand.
GENERAL_SENTENCES_BY_CODE = {
    "PLATFORM_REJECTED": gettext_lazy("%(platform)s did not accept the post."),
    "ACCOUNT_NEEDS_REAUTH": gettext_lazy("%(platform)s does not let us in any more."),
}
# By code: what a person does now.
ADVICE_BY_CODE = {
    "PLATFORM_REJECTED": gettext_lazy("Change the post, then send it again."),
    "ACCOUNT_NEEDS_REAUTH": gettext_lazy("Connect the account again, then send the post again."),
    "PLATFORM_RATE_LIMITED": gettext_lazy("Send it again later."),
    "PLATFORM_UNAVAILABLE": gettext_lazy("Send it again later."),
    "SCHEDULE_MISSED": gettext_lazy("Send it again if it should still be published."),
    "WORKSPACE_DELETED": "",
}
# The general advice of the adapters' errors, which the advice above replaces; other advice is about the particular problem.
_GENERAL = frozenset(
    each.suggested_action
    for each in (
        errors.ContentRejected,
        errors.ReauthRequired,
        errors.RateLimited,
        errors.Transient,
        errors.PlatformError,
    )
) | {"The service gave up after its last attempt; retry the post later.", "Retry the post if it should still be published."}


def target_error_sentence(error: Mapping[str, Any], label: str) -> str:
    """Return what went wrong when a post's target was published, in a sentence; `label` is the platform's display name."""
    code, message = error["code"], str(error["message"])
    if code == "ACCOUNT_NEEDS_REAUTH" and message.startswith("The account is "):  # the API's name of the account's status
        return str(GENERAL_SENTENCES_BY_CODE[code] % {"platform": label})
    if code in SENTENCES_BY_CODE:
        return str(SENTENCES_BY_CODE[code] % {"platform": label})
    if has_words_for_programmers_only(message):
        return str(GENERAL_SENTENCES_BY_CODE.get(code, _("Sending to %(platform)s failed.")) % {"platform": label})
    return translated_message(message)


def target_error_advice(error: Mapping[str, Any], status: str) -> str:
    """Return the sentence that advises a person on the error of a post's target with this status; "" without advice.

    Advice in words that only programs understand gives way to the advice of the error's code.
    """
    if status == TargetStatus.RETRYING:
        return _("Nothing: the service tries again by itself.")
    advice = str(error["suggested_action"])
    if has_words_for_programmers_only(advice) or (advice in _GENERAL and error["code"] in ADVICE_BY_CODE):
        return str(ADVICE_BY_CODE.get(error["code"], ""))
    return translated_message(advice)
