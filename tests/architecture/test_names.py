"""Rules for names: no vague modules, one model for each id prefix, platforms in their folder, docstrings up to date."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

import pytest
from django.apps import apps

from accounts.platforms.registry import PLATFORMS
from config.db.ids import PrefixedIdField
from tests.architecture.sources import ROOT, python_files

SAYS_NOTHING = re.compile(r"utils?|helpers?|common|managers?|data|misc|stuff|base_utils|tools?", re.IGNORECASE)
# The id prefixes of the public API.
PREFIXES = {
    "usr",
    "wrk",
    "agt",
    "key",
    "acc",
    "med",
    "pgr",
    "tgt",
    "evt",
    "dlv",
    "log",
    "use",
    "cor",
    "con",
    "pln",
    "ocl",
    "ogr",
    "ser",
    "cal",
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FIELDS_OF_NAMES = {
    kind: {"id", "attr", "arg", "name", "module"}.intersection(kind._fields)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
IN_BACKTICKS = r"`([A-Za-z_][\w.]*)(?:\([^`]*\))?`"
# Atoms of QuickTime files, and a type of column.
NAMES_OF_FORMATS = {"hdlr", "ilst", "loci", "mdia", "trex", "udta", "varchar"}
PLATFORM_MODULES = Path("accounts/platforms")
# The same words in another meaning: Celery's pool of threads, and the kinds of notice channels.
OTHER_MEANINGS = {
    (Path("config/management/commands/up.py"), "threads"),
    (Path("accounts/dashboard/option_names.py"), "youtube"),  # a licence
    *(
        (Path("config/notices") / file, kind)
        for file in ("models.py", "migrations/0005_channels.py")
        for kind in ("slack", "telegram")
    ),
}


def test_no_module_has_a_vague_name() -> None:
    names = {part.removesuffix(".py") for path in python_files() for part in path.parts}

    assert [name for name in sorted(names) if any(SAYS_NOTHING.fullmatch(word) for word in (name, *name.split("_")))] == []


def test_an_id_prefix_belongs_to_one_model() -> None:
    keys = [model._meta.pk for model in apps.get_models()]
    prefixes = Counter(key.prefix for key in keys if isinstance(key, PrefixedIdField))

    assert len(prefixes) >= 8
    assert {prefix: times for prefix, times in prefixes.items() if times > 1} == {}
    assert set(prefixes) - PREFIXES == set()


def test_platforms_are_named_in_their_own_folder_only() -> None:
    named = set()
    for path in python_files():
        if path.parts[0] == "tests" or path.is_relative_to(PLATFORM_MODULES):
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.Constant) and node.value in PLATFORMS:
                named.add((path, node.value))

    assert named - OTHER_MEANINGS == set()


@pytest.mark.parametrize("template", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.name)
def test_templates_name_no_platform(template: Path) -> None:
    quoted = set(re.findall(r"""["']([a-z]+)["']""", template.read_text()))

    assert quoted & set(PLATFORMS) == set()


def test_docstrings_name_only_what_exists() -> None:
    """An identifier in backticks is a name or a string of the code, so that a rename reaches the docstrings."""
    known = _words_of_other_files()
    quoted: dict[str, Path] = {}
    for path in python_files():
        nodes = list(ast.walk(ast.parse((ROOT / path).read_text())))
        docstrings = {
            id(node.body[0].value): text
            for node in nodes
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node, clean=False)) is not None
            if isinstance(node.body[0], ast.Expr)
        }
        known |= {*path.with_suffix("").parts, *_identifiers(nodes, docstrings.keys())}
        quoted |= {name: path for text in docstrings.values() for name in re.findall(IN_BACKTICKS, text)}

    missing = {name: str(path) for name, path in quoted.items() if not known.issuperset(name.split("."))}
    assert missing.keys() - NAMES_OF_FORMATS == set(), missing


def _identifiers(nodes: Iterable[ast.AST], docstrings: Container[int]) -> Iterator[str]:
    for node in nodes:
        for field in FIELDS_OF_NAMES[type(node)]:
            if isinstance(name := getattr(node, field), str):
                yield from name.split(".")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from re.findall(r"\w+", node.value)


def _words_of_other_files() -> set[str]:
    texts = [*(ROOT / "templates").rglob("*.html"), ROOT / "pyproject.toml", ROOT / "compose.yaml"]
    return {word for path in texts for word in re.findall(r"\w+", path.read_text())}
