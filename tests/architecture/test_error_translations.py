"""Refusals of the services that pages call are translated: each message is marked, recognized by a template, or excused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from django.utils.translation import override

from config.pages.message_templates import TEMPLATES, pattern_of_template
from config.pages.sentences import translated_message
from tests.architecture.sources import ROOT, python_files
from tests.architecture.test_translations import catalogue

CALLED_BY_PAGES = ("media", "config/notices", *(f"{app}/services" for app in ("agents", "posts", "webhooks", "workspaces")))
# Errors whose message a page may show; the codes of all others have a sentence, or only programs get them.
SHOWN = {"Conflict", "Forbidden", "InvalidState", "MediaTypeNotAllowed", "NotFound", "PayloadTooLarge", "ValidationFailed"}
ONLY_FOR_PROGRAMS = {
    "A workspace key can create workspaces only for its own workspace's owner.",
    "Agents cannot confirm or reject posts. Use a person's session or a workspace key.",
    "Agents cannot read the signing secret.",
    "All posts of a batch must belong to one workspace.",
    "An agent's key cannot create workspaces.",
    "This API key may not be used from 1.",
    "You can create workspaces only for yourself.",
}
HAVE_SENTENCES = {  # config/pages/sentences.py, by operation or field; posts/dashboard/series.py for what a series refused
    "Choose one of 1.",
    "The current content version is 1, not 1.",
    "The group is 1 and has no targets to retry.",
    "The group is 1, and none of its targets can be changed any more.",
    "The group is 1. Only a draft can be put up for approval.",
    "The group is 1. Only drafts and groups awaiting confirmation can be confirmed.",
    "The group is 1. Only groups awaiting confirmation can be rejected.",
    "The person who made the series is no longer a member of the workspace.",
    "The series has no occurrence then; `next` lists them.",
    "The target is 1. Only unconfirmed targets can be resolved.",
}
MARKED_FOR_EACH_WORD = {  # config/pages/message_templates.py
    "1 may pause, skip or end the series of others, but not change them.",
    "The 1 is broken.",
    "The 1 is cut off.",
    "The 1 is followed by a file of another type.",
    "The video has more than 1 1.",
}


def messages_of_errors(tree: ast.AST) -> Iterator[str]:
    """Yield the messages of the API errors that a module raises; each value in them is 1."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        is_for_field = isinstance(call.func, ast.Attribute) and call.func.attr == "for_field"
        message = call.args[1] if is_for_field else call.args[0]
        if not is_for_field and getattr(call.func, "id", "") not in SHOWN:
            continue
        if isinstance(message, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in message.values)
        elif isinstance(message, ast.Constant):
            yield str(message.value)


def test_the_messages_of_refusals_that_pages_show_are_translated() -> None:
    known = {entry.msgid for entry in catalogue("de")}
    patterns = [pattern_of_template(template) for template in TEMPLATES]
    modules = [path for path in python_files() if path.as_posix().startswith(CALLED_BY_PAGES)]
    messages = {text for path in modules for text in messages_of_errors(ast.parse((ROOT / path).read_text()))}
    untranslated = {text for text in messages - known if not any(pattern.fullmatch(text) for pattern in patterns)}

    assert len(modules) > 50
    assert untranslated == ONLY_FOR_PROGRAMS | HAVE_SENTENCES | MARKED_FOR_EACH_WORD


def test_a_message_with_values_is_translated_with_its_values() -> None:
    with override("de"):
        shown = [
            translated_message(message)
            for message in (
                "The workspace already has 100 keys.",
                "Events cannot be sent to this address: The URL does not begin with https://.",
                "The receiver says 7.",
            )
        ]

    assert shown == [
        "Der Arbeitsbereich hat schon 100 Schlüssel.",
        "An diese Adresse können keine Ereignisse gesendet werden: Die URL beginnt nicht mit https://.",
        "The receiver says 7.",
    ]
