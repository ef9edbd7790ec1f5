"""Sentences for people about API errors, made from the errors' codes, for all dashboard pages.

The messages of the API are for programs and their authors: they name fields and operations. An error without a sentence here
shows its own message, if it contains nothing that only they understand.
"""

from __future__ import annotations

import re
from typing import Any

from config.api.errors import ApiError, InvalidState, RateLimited


class PageRefusal(InvalidState):
    """The API error of a dashboard page that refuses something itself; its message is already written for people."""


# By field and code of an entry in an error's details; the field is the last part of its path.
FIELD_SENTENCES = {
    ("scheduled_at", "past"): "This time has passed. Choose a later one.",
    ("scheduled_at", "too_far"): "This time is more than a year ahead. Choose an earlier one.",
    ("scheduled_at", "required"): "A scheduled post needs a time. To stop it, cancel the post.",
    ("text", "max_length"): "The text is too long. It may have at most 100,000 characters.",
    ("connected_account_id", "not_found"): "A chosen account is no longer in this workspace. Choose the accounts again.",
    ("media_id", "not_found"): "A file was deleted from the library. Remove it from the post.",
    ("media_id", "repeated"): "A file is attached twice. Remove it once.",
    ("media", "max_length"): "A post can have at most 20 files. Remove some.",
    ("alt_text", "max_length"): "An alt text is too long.",
    ("permalink", "invalid"): "Enter the address of the post, which begins with https://.",
    ("reason", "max_length"): "The reason may have at most 1,000 characters.",
    ("Idempotency-Key", "invalid"): "The form is incomplete. Load the page again, then repeat what you did.",
}
# By operation and code, or by code alone.
SENTENCES = {
    ("posts.update", "INVALID_STATE"): "The post can no longer be changed: it is being published, or it is finished.",
    ("posts.cancel", "INVALID_STATE"): "The post can no longer be cancelled: it is being published, or it is finished.",
    ("posts.confirm", "INVALID_STATE"): "The post no longer awaits approval: somebody has approved, rejected or changed it.",
    ("posts.reject", "INVALID_STATE"): "The post no longer awaits approval: somebody has approved, rejected or changed it.",
    ("posts.retry", "INVALID_STATE"): "There is nothing to send again: no account has failed, or it is being sent already.",
    ("posts.resolve", "INVALID_STATE"): "Somebody has already said what became of the post, or it is being sent again.",
    ("posts.confirm", "CONFLICT"): "Somebody has changed the post since you read it. Read it again, then approve it.",
    ("posts.confirm", "CONTENT_INVALID"): "The post no longer fits all of its accounts. Open it to see what to change.",
    ("posts.update", "CONFLICT"): "Somebody else has changed the post in the meantime. Nothing was saved.",
    "SCOPE_MISSING": "Your role in this workspace does not allow this. Ask an owner or admin.",
    "WORKSPACE_PAUSED": "This workspace is paused, so nothing can be changed. An owner can start it again in the settings.",
    "SERVICE_UNAVAILABLE": "The service is not available at the moment. Try again in a moment.",
    "IDEMPOTENCY_IN_PROGRESS": "This is being done already. Wait a moment, then load the page again.",
    "INTERNAL_ERROR": "Something went wrong. Try again later.",
    "SPEND_CAP_EXCEEDED": "This would exceed the workspace's monthly spend cap. An owner can raise it in the settings.",
    "PAYMENT_METHOD_REQUIRED": "The month's free credit is used up. An owner or admin can set up payment under Usage.",
    "SOCIAL_URL_POST_CAP_EXCEEDED": (
        "The month's number of posts with links is used up. Remove the links, or ask an owner to raise the cap."
    ),
    "POSTS_PER_DAY_CAP_EXCEEDED": "The agent has used up its posts for this day. Choose another day.",
}
# What only programs and their authors understand; advice that contains it is not shown.
_FOR_PROGRAMS = re.compile(r"`|POST /|GET /|Retry-After|\btrace_id|\b[a-z]+_[a-z_]+\b|\bthe request\b|\brequests\b")


def error_sentences(error: ApiError, operation: str = "") -> list[str]:
    """Return what is wrong and what to do about it, for a person; `operation` is what the person has tried to do."""
    if isinstance(error, PageRefusal):
        return [error.message]
    sentence = SENTENCES.get((operation, error.code)) or SENTENCES.get(error.code)
    if isinstance(error, RateLimited) and error.message == RateLimited.message:
        sentence = "Too many requests. Wait a minute, then try again."
    if sentence:
        return [str(sentence)]
    if error.details:
        return list(dict.fromkeys(field_sentence(row) for row in error.details))
    advice = error.suggested_action
    return [error.message, *([] if _FOR_PROGRAMS.search(advice) else [advice])]


def field_sentence(row: dict[str, Any]) -> str:
    """Return what is wrong with a field, from an entry of an error's details; it names the field in words, if any."""
    name = str(row.get("field") or row.get("path") or "").rpartition(".")[2].partition("[")[0]
    if sentence := FIELD_SENTENCES.get((name, str(row.get("code")))):
        return str(sentence)
    label = name.replace("_", " ").replace("-", " ").capitalize()
    return f"{label}: {row['message']}" if label else str(row["message"])
