"""Sentences for people about API errors, made from the errors' codes, for the dashboard and the operators' console.

The messages of the API are for programs and their authors: they name fields and operations. An error without a sentence here
shows its own message, and its advice if that contains nothing that only they understand.
"""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from config.api.errors import ApiError, InvalidState, RateLimited
from config.pages.message_templates import translated_message


class PageRefusal(InvalidState):
    """The error by which a dashboard page itself, not a service, refuses something; people read its message unchanged."""


# By field and code of an entry in an error's details; the field is the last part of its path.
FIELD_SENTENCES = {
    ("scheduled_at", "past"): _("This time has passed. Choose a later one."),
    ("scheduled_at", "too_far"): _("This time is more than a year ahead. Choose an earlier one."),
    ("scheduled_at", "required"): _("A scheduled post needs a time. To stop it, cancel the post."),
    ("text", "max_length"): _("The text is too long. It may have at most 100,000 characters."),
    ("connected_account_id", "not_found"): _("A chosen account is no longer in this workspace. Choose the accounts again."),
    ("media_id", "not_found"): _("A file was deleted from the library. Remove it from the post."),
    ("media_id", "repeated"): _("A file is attached twice. Remove it once."),
    ("media", "max_length"): _("A post can have at most 20 files. Remove some."),
    ("alt_text", "max_length"): _("An alt text is too long."),
    ("action", "no_slots"): _("This account has no slots to which the posts could go. Set some first."),
    ("action", "no_free_slot"): _("The account has not enough free slots within a year."),
    ("before", "too_many"): _("More than 100 posts are scheduled to the account. Choose fewer days."),
    ("slot", "slot_taken"): _("Another post has taken this slot meanwhile."),
    ("post_group_ids", "not_missed"): _("A chosen post was sent or changed meanwhile. Load the page again."),
    ("permalink", "invalid"): _("Enter the address of the post, which begins with https://."),
    ("at", "not_found"): _("The series has no post at this time any more. Load the page again."),
    ("texts", "too_few"): _("The rule would use a text again within 24 hours. Add texts, or use {n} in each."),
    ("role", "invalid_choice"): _("Choose one of the roles."),
    ("cursor", "invalid"): _("The address of this page is outdated. Begin at the start of the list."),
    ("reason", "max_length"): _("The reason may have at most 1,000 characters."),
    ("Idempotency-Key", "invalid"): _("The form is incomplete. Load the page again, then repeat what you did."),
}
# What a page calls a field whose name alone says too little.
FIELD_LABELS = {"rrule": _("Rule"), "starts_at": _("First time")}
# By operation and code, or by code alone.
SENTENCES = {
    ("posts.update", "INVALID_STATE"): _("The post can no longer be changed: it is being published, or it is finished."),
    ("posts.cancel", "INVALID_STATE"): _("The post can no longer be cancelled: it is being published, or it is finished."),
    ("posts.confirm", "INVALID_STATE"): _(
        "The post no longer awaits approval: somebody has approved, rejected or changed it."
    ),
    ("posts.reject", "INVALID_STATE"): _(
        "The post no longer awaits approval: somebody has approved, rejected or changed it."
    ),
    ("posts.retry", "INVALID_STATE"): _(
        "There is nothing to send again: no account has failed, or it is being sent already."
    ),
    ("posts.resolve", "INVALID_STATE"): _("Somebody has already said what became of the post, or it is being sent again."),
    ("ops.replay_deliveries", "VALIDATION_FAILED"): _("A chosen delivery no longer exists. Nothing was sent."),
    ("posts.confirm", "CONFLICT"): _("Somebody has changed the post since you read it. Read it again, then approve it."),
    ("posts.reject", "CONFLICT"): _("Somebody has changed the post since you read it. Read it again, then reject it."),
    ("posts.confirm", "CONTENT_INVALID"): _("The post no longer fits all of its accounts. Open it to see what to change."),
    ("posts.update", "CONFLICT"): _("Somebody else has changed the post in the meantime. Nothing was saved."),
    "SCOPE_MISSING": _("Your role in this workspace does not allow this. Ask an owner or admin."),
    ("workspaces.resume", "WORKSPACE_PAUSED"): _(
        "The operator of the service has paused this workspace. Only they can lift that."
    ),
    "WORKSPACE_PAUSED": _(
        "This workspace is paused, so nothing can be changed. An owner can start it again in the settings."
    ),
    "SERVICE_UNAVAILABLE": _("The service is not available at the moment. Try again in a moment."),
    "IDEMPOTENCY_IN_PROGRESS": _("This is being done already. Wait a moment, then load the page again."),
    "INTERNAL_ERROR": _("Something went wrong. Try again later."),
    "SPEND_CAP_EXCEEDED": _("This would exceed the workspace's monthly spend cap. An owner can raise it in the settings."),
    "PAYMENT_METHOD_REQUIRED": _("The month's free credit is used up. An owner or admin can set up payment under Usage."),
    "SOCIAL_URL_POST_CAP_EXCEEDED": _(
        "The month's number of posts with links is used up. Remove the links, or ask an owner to raise the cap."
    ),
    "POSTS_PER_DAY_CAP_EXCEEDED": _("The agent has used up its posts for this day. Choose another day."),
}
# Messages of config/api/errors.py that pages show unchanged, marked here for translation: gunicorn loads that module before
# Django's settings exist.
_MESSAGES_OF_THE_API = (
    gettext_noop("Ask the owner of the workspace to do it."),
    gettext_noop("Check the path and the identifier."),
    gettext_noop("Give a public https address on port 443 or above 1023, without credentials in it."),
    gettext_noop("Read the resource again, then decide whether to repeat the request."),
    gettext_noop("Read the resource again; its status says what is possible."),
    gettext_noop("There is no such API key."),
    gettext_noop("There is no such account."),
    gettext_noop("There is no such agent."),
    gettext_noop("There is no such calendar feed."),
    gettext_noop("There is no such connection."),
    gettext_noop("There is no such delivery."),
    gettext_noop("There is no such invitation."),
    gettext_noop("There is no such media asset."),
    gettext_noop("There is no such member."),
    gettext_noop("There is no such notice channel."),
    gettext_noop("There is no such plan."),
    gettext_noop("There is no such platform."),
    gettext_noop("There is no such post group."),
    gettext_noop("There is no such saved filter."),
    gettext_noop("There is no such series."),
    gettext_noop("There is no such session."),
    gettext_noop("There is no such snippet."),
    gettext_noop("There is no such user."),
    gettext_noop("There is no such workspace."),
)
# What only programs and their authors understand: names of fields, options, settings and operations.
_FOR_PROGRAMS = re.compile(
    r"`|POST /|GET /|Retry-After|\btrace_id|\b[a-z]+_[a-z_]+\b|\b[A-Z0-9]+_[A-Z0-9_]+\b|\bthe request\b|\brequests\b"
)


def error_sentences(error: ApiError, operation: str = "") -> list[str]:
    """Return sentences for people about an API error: what is wrong, and what to do; `operation` is what was tried."""
    if isinstance(error, PageRefusal):
        return [translated_message(error.message)]
    sentence = SENTENCES.get((operation, error.code)) or SENTENCES.get(error.code)
    if isinstance(error, RateLimited) and error.message == RateLimited.message:
        sentence = _("Too many requests. Wait a minute, then try again.")
    if sentence:
        return [str(sentence)]
    if error.details:
        return list(dict.fromkeys(sentence_about_invalid_field(row) for row in error.details))
    advice = error.suggested_action
    return [
        translated_message(error.message),
        *([] if has_words_for_programmers_only(advice) else [translated_message(advice)]),
    ]


def sentence_about_invalid_field(row: dict[str, Any]) -> str:
    """Return the sentence for people about one invalid field, from an entry of an API error's details."""
    name = str(row.get("field") or row.get("path") or "").rpartition(".")[2].partition("[")[0]
    if sentence := FIELD_SENTENCES.get((name, str(row.get("code")))):
        return str(sentence)
    label = FIELD_LABELS.get(name) or translated_message(name.replace("_", " ").replace("-", " ").capitalize())
    message = translated_message(str(row["message"]))
    return f"{label}: {message}" if label else message


def has_words_for_programmers_only(text: str) -> bool:
    """Return whether a message or advice of the API has words that only programs and their authors understand."""
    return _FOR_PROGRAMS.search(text) is not None
