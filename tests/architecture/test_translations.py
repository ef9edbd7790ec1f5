"""The catalogues are complete, and neither templates of finished folders nor the console show text without a translation."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import polib
import pytest
from django.utils.translation import template

from config.pages.sentences import _MESSAGES_OF_THE_API
from tests.architecture.sources import ROOT, python_files

LANGUAGES = ("de", "es")
CATALOGUES = ROOT / "config" / "locale"
TEMPLATES = ROOT / "templates"
ENGLISH_ONLY = {"drf_spectacular"}  # the API's document
FINISHED = (
    *("accounts", "admin", "agents", "billing", "dashboard", "django", "home", "media", "notices", "pages", "posts"),
    *("webhooks", "workspaces"),
)
NAMES = ("API", "Social Publishing Service", "Ctrl K", "https://")  # shown alike in all languages
CALLS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "pgettext", "pgettext_lazy", "_"}
TRANSLATED = re.compile(r"\{% *blocktranslate\b.*?\{% *endblocktranslate *%\}", re.S)
NO_TEXT = re.compile(
    r"<(style|script|pre|code|svg)\b.*?</\1>|<title>\{\{.*?</title>|<!--.*?-->|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.S
)
# Django's admin templates fill attributes by blocks.
CSS_CLASSES = re.compile(r"\{% block (?:bodyclass|coltype) %\}.*?\{% endblock %\}")
SHOWN_ATTRIBUTE = re.compile(r'\b(?:aria-label|title|placeholder|alt|data-confirm)="([^"]*)"')
LITERAL = r"""(u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*")"""
MESSAGE = re.compile(rf"\b(?:n?gettext|_)\({LITERAL}|\bn?pgettext\({LITERAL}, *{LITERAL}")
# Where the console's modules name what operators read.
SHOWN_KEYWORDS = {"description", "label", "help_text"}
SHOWN_NAMES = {"title", "site_header", "site_title", "index_title"}
FIRST_SHOWN_ARGUMENT = {
    "requires_confirmation": 0,
    "message_user": 1,
    "run_action_for_each_row": 4,
    "add_message": 2,
    "add_error": 1,
    **dict.fromkeys(("info", "success", "warning"), 1),  # of django.contrib.messages
}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%|</?[a-z]\w*")


def catalogue(language: str) -> polib.POFile:
    return polib.pofile(str(CATALOGUES / language / "LC_MESSAGES" / "django.po"), wrapwidth=0)


def visible_text(source: str) -> list[str]:
    """Return the texts of a template that a person sees or hears and that are in no translation tag."""
    rest = NO_TEXT.sub("\x00", TRANSLATED.sub("", CSS_CLASSES.sub("", source)))
    texts = [
        *re.split(r"<[^>]*>|\x00", rest),
        *(part for value in SHOWN_ATTRIBUTE.findall(rest) for part in value.split("\x00")),
    ]
    for name in NAMES:
        texts = [text.replace(name, "") for text in texts]
    return [" ".join(text.split()) for text in texts if re.search(r"[A-Za-z]{2}", re.sub(r"&\w+;", "", text))]


def marked_in_python(path: Path) -> set[str]:
    """Return the messages that a module translates."""
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    marked = set()
    for call in calls:
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        position = 1 if name.startswith("pgettext") else 0
        if name in CALLS and len(call.args) > position and isinstance(call.args[position], ast.Constant):
            marked.add(str(call.args[position].value))  # type: ignore[attr-defined]
    return marked


def marked_in_template(path: Path) -> set[str]:
    """Return the messages that a template translates, from the Python source that Django makes of it for xgettext."""
    calls = MESSAGE.findall(template.templatize(path.read_text()))
    return {str(ast.literal_eval(plain or message)) for plain, _context, message in calls}


def is_console_module(path: Path) -> bool:
    """Return whether a module shows pages of the operators' console; /ops is an API."""
    if path.parts[:2] == ("config", "console"):
        return path.parts[2] != "ops"
    return path.name.startswith("admin") and path.parts[0] != "tests"


def untranslated_in_console(source: str) -> list[str]:
    """Return the texts that a module of the console shows and that are in no call of a translation function."""
    shown: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            shown += [keyword.value for keyword in node.keywords if keyword.arg in SHOWN_KEYWORDS]
            shown += node.args[FIRST_SHOWN_ARGUMENT[name] :][:1] if name in FIRST_SHOWN_ARGUMENT else []
        elif isinstance(node, ast.Dict):
            shown += [
                value for key, value in zip(node.keys, node.values, strict=True) if getattr(key, "value", "") == "title"
            ]
        elif isinstance(node, ast.Assign) and {getattr(target, "id", "") for target in node.targets} & SHOWN_NAMES:
            shown.append(node.value)
    texts = [text for value in shown if value is not None for text in _texts_in(value)]
    return [text for text in texts if re.search("[A-Za-z]{2}", text)]


def _texts_in(value: ast.expr) -> list[str]:
    """Return the constant texts that an expression may result in, also in parts of it."""
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return [text for part in parts for text in _texts_in(part)]
        case ast.IfExp(body=first, orelse=second) | ast.BinOp(left=first, right=second):
            return [*_texts_in(first), *_texts_in(second)]
    return []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated(language: str) -> None:
    entries = catalogue(language)

    assert [entry.msgid for entry in entries if not entry.translated() or entry.fuzzy or entry.obsolete] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_placeholders_and_tags_of_its_message(language: str) -> None:
    wrong = []
    for entry in catalogue(language).translated_entries():
        wanted = sorted(set(PLACEHOLDER.findall(entry.msgid_plural or entry.msgid)))
        texts = list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]
        wrong += [text for text in texts[-1:] if sorted(set(PLACEHOLDER.findall(text))) != wanted]

    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_that_of_the_source(language: str) -> None:
    source = catalogue(language)
    compiled = polib.mofile(str(CATALOGUES / language / "LC_MESSAGES" / "django.mo"))
    texts = [
        {(entry.msgctxt, entry.msgid): entry.msgstr or entry.msgstr_plural for entry in each if entry.msgid}
        for each in (source.translated_entries(), compiled)
    ]

    assert texts[0] == texts[1]


def test_no_marked_message_is_missing_in_the_catalogues() -> None:
    modules = [ROOT / path for path in python_files() if path.parts[0] != "tests"]
    pages = [path for path in TEMPLATES.rglob("*.html") if path.relative_to(TEMPLATES).parts[0] not in ENGLISH_ONLY]
    marked = set().union(*map(marked_in_python, modules), *map(marked_in_template, pages))
    for language in LANGUAGES:
        known = {entry.msgid.replace("%%", "%") for entry in catalogue(language)}
        assert {message for message in marked if message.replace("%%", "%") not in known} == set()


def test_the_messages_of_api_errors_that_pages_show_are_marked() -> None:
    """Pages show NotFound's messages, which are made of nouns, unless a request names the field that they are about."""
    nouns = set()
    for path in (path for path in python_files() if path.parts[0] != "tests"):
        calls = [node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.Call)]
        for call in calls:
            nouns |= {keyword.value.value for keyword in call.keywords if keyword.arg == "noun"}  # type: ignore[attr-defined]
            if getattr(call.func, "id", "") == "missing_or_foreign_id_error" and ast.unparse(call.args[0]) == "None":
                nouns.add(ast.literal_eval(call.args[1]))
    not_found = {f"There is no such {noun}." for noun in (*nouns, "workspace")}
    marked = set(_MESSAGES_OF_THE_API)
    written = (ROOT / "config" / "api" / "errors.py").read_text()

    assert not_found - marked == set()
    assert [text for text in marked - not_found if text not in written] == []


@pytest.mark.parametrize("folder", FINISHED)
def test_the_templates_show_only_text_that_can_be_translated(folder: str) -> None:
    found = {
        str(path.relative_to(TEMPLATES)): texts
        for path in sorted((TEMPLATES / folder).rglob("*.html"))
        if (texts := visible_text(path.read_text()))
    }

    assert found == {}


def test_the_modules_of_the_console_show_only_text_that_can_be_translated() -> None:
    modules = [path for path in python_files() if is_console_module(path)]
    found = {str(path): texts for path in modules if (texts := untranslated_in_console((ROOT / path).read_text()))}

    assert len(modules) > 20
    assert found == {}


def test_text_outside_of_translation_functions_is_found() -> None:
    source = """
site_header = index_title = "Status"
{"title": f"Trace {number}", "name": "page"}
action(description="Pause", name="pause", label=_("Reason"))
model_admin.message_user(request, f"{row.pk}: {reason}")
messages.add_message(request, messages.INFO, "Done")
messages.success(request, "Saved %s" % name if name else gettext("Saved"))
form.add_error("code", "Wrong")
"""
    found = ["Done", "Pause", "Saved %s", "Status", "Trace ", "Wrong"]
    assert sorted(untranslated_in_console(source)) == found


def test_text_outside_of_translation_tags_is_found() -> None:
    assert visible_text('<p title="Close it">Hello {{ name }}, <b>{% translate "you" %}</b></p>') == ["Hello", "Close it"]
