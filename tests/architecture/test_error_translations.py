"""Refusals of the services that pages call are translated: each message is marked, recognized by a template, or excused."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from django.utils.translation import override

from config.pages.message_templates import TEMPLATES, pattern_of_template, translated_message
from config.pages.sentences import has_words_for_programmers_only
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

# Their messages end in targets of posts, in answers to connections and in the list of people to mention.
ABOUT_PLATFORMS = ("accounts/platforms", "accounts/services", "posts/publishing", "posts/recurrence")
# Modules there without messages of errors: their texts are capabilities, the setup by operators, and issues of posts, which
# accounts/dashboard/issue_sentences.py replaces.
WITHOUT_ERRORS = {
    *("authorization.py", "capabilities.py", "link_cards.py", "media_check.py", "option_media.py", "polls.py"),
    *("text_check.py", "thread_option.py", "types.py"),
}
NEVER_SHOWN = {
    "UnreadableAnswer",
    "report_unknown_error_code",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "compile",
    "__init__",
}
PARTS_OF_MESSAGES = {
    *("PageUnavailable", "translating_content_call_errors", "translating_publish_errors", "translating_search_errors"),
}
SENTENCE = re.compile(r"[A-Z1].* .*(\.|: 1)", re.S)
NO_PAGE_SHOWS = {
    "Check the account. Resolve the target if 1 is there; 1.",  # names options of the API, so the code's advice replaces it
    "The account is 1.",  # posts/dashboard/target_error_sentences.py has a sentence for it
    "The creator cannot post 1 now, but 1.",  # names values of the API, so the code's sentence replaces it
    "This field is required.",  # in Django's own catalogue
    "1 is connected by 1.",  # pages offer only methods that a platform has
    "Must be one of 1.",  # pages offer only platforms that there are
    "Other writers keep changing these post groups.",  # never stored
    "Unknown field.",  # forms send only fields of the schema
}
MARKED_FOR_EACH_PART = {  # config/pages/platform_message_templates.py
    "1 published; 1: 1",
    "Slack does not let the 1 post to the channel: 1",
    "Slack no longer accepts the 1: 1",
    "The bot may not post to 1.",
    "X does not accept 1s.",
    "the profile's 1",
}


def messages_of_errors(tree: ast.AST) -> Iterator[str]:
    """Yield the messages of the API errors that a module raises; each value in them is 1."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        is_for_field = isinstance(call.func, ast.Attribute) and call.func.attr == "for_field"
        message = call.args[1] if is_for_field else call.args[0]
        if is_for_field or getattr(call.func, "id", "") in SHOWN:
            yield from _texts(message)


def sentences_about_platforms(tree: ast.AST) -> Iterator[str]:
    """Yield the sentences in a module outside of its docstrings, and the parts of messages that it passes to functions."""
    skipped: list[ast.AST] = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    skipped = [node for node in skipped if isinstance(node, ast.Constant)]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in NEVER_SHOWN or ast.unparse(call.func).startswith("logger."):
            skipped += [node for node in ast.walk(call) if isinstance(node, ast.Constant | ast.JoinedStr)]
        if name in PARTS_OF_MESSAGES:
            yield from _texts(call.args[0])
    skipped += [part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part != node]
    for node in set(ast.walk(tree)) - set(skipped):
        yield from (text for text in _texts(node) if SENTENCE.fullmatch(text) and not has_words_for_programmers_only(text))


def _texts(node: ast.AST) -> list[str]:
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def untranslated(messages: set[str]) -> set[str]:
    """Return those of the messages that are neither in the catalogue nor recognized by a template."""
    known = {entry.msgid for entry in catalogue("de")}
    patterns = [pattern_of_template(template) for template in TEMPLATES]
    return {text for text in messages - known if not any(pattern.fullmatch(text) for pattern in patterns)}


def test_the_messages_of_refusals_that_pages_show_are_translated() -> None:
    modules = [path for path in python_files() if path.as_posix().startswith(CALLED_BY_PAGES)]
    messages = {text for path in modules for text in messages_of_errors(ast.parse((ROOT / path).read_text()))}

    assert len(modules) > 50
    assert untranslated(messages) == ONLY_FOR_PROGRAMS | HAVE_SENTENCES | MARKED_FOR_EACH_WORD


def test_the_messages_about_platforms_and_rules_are_translated() -> None:
    modules = [
        path for path in python_files() if path.as_posix().startswith(ABOUT_PLATFORMS) and path.name not in WITHOUT_ERRORS
    ]
    messages = {text for path in modules for text in sentences_about_platforms(ast.parse((ROOT / path).read_text()))}

    assert len(modules) > 100
    assert untranslated(messages) == NO_PAGE_SHOWS | MARKED_FOR_EACH_PART


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


def test_a_message_around_another_is_translated_with_it_except_for_the_words_of_the_platform() -> None:
    thumbnail = "The video has no thumbnail of its own: The thumbnail's address answered 404."
    thumbnail_in_german = "Das Video hat kein eigenes Vorschaubild: Die Adresse des Vorschaubilds hat mit 404 geantwortet."
    messages = (
        "Segments 1 to 3 were published; segment 4 was not: LinkedIn does not accept this post: Too long.",
        f"{thumbnail} YouTube has not finished processing the video.",
        "The account's server answered 503: no reason given",
        "X does not accept the alt text of cat.png: too long",
        "Threads does not accept this video: Not found.",
        "Bluesky does not accept this post: 400 no reason given",
        "The operator of this service has not set X_CLIENT_ID and X_CLIENT_SECRET.",
    )

    with override("de"):
        shown = [translated_message(message) for message in messages]

    assert shown == [
        "Die Teile 1 bis 3 wurden veröffentlicht, Teil 4 nicht: LinkedIn akzeptiert diesen Beitrag nicht: Too long.",
        f"{thumbnail_in_german} YouTube hat das Video noch nicht fertig verarbeitet.",
        "Der Server des Kontos hat mit 503 geantwortet: ohne Angabe von Gründen",
        "X akzeptiert den Alternativtext von cat.png nicht: too long",
        "Threads akzeptiert dieses Video nicht: Not found.",
        "Bluesky akzeptiert diesen Beitrag nicht: 400 ohne Angabe von Gründen",
        "Der Betreiber dieses Dienstes hat diese Einstellungen nicht gesetzt: X_CLIENT_ID und X_CLIENT_SECRET.",
    ]


def test_a_sentence_in_a_variable_or_an_attribute_is_found() -> None:
    source = """
'''A docstring is no message.'''
unreachable = "The server could not be reached."
raise Transient(f"{label} answered {status}: {reason}", suggested_action="Try it again.")
raise UnreadableAnswer("The response has no id.")
raise PageUnavailable("is not a page")
logger.error("A log is no message.")
raise ContentRejected("Leave `title` out.")
"""
    found = ["1 answered 1: 1", "The server could not be reached.", "Try it again.", "is not a page"]
    assert sorted(sentences_about_platforms(ast.parse(source))) == found
