"""Rules for names: no vague module names, one model for each id prefix, platforms named only in their folder."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from django.apps import apps

from accounts.platforms.registry import PLATFORMS
from config.db.ids import PrefixedIdField
from tests.architecture.sources import ROOT, python_files

SAYS_NOTHING = re.compile(r"utils?|helpers?|common|managers?|data|misc|stuff|base_utils|tools?", re.IGNORECASE)
# The id prefixes of the public API.
PREFIXES = {"usr", "wrk", "agt", "key", "acc", "med", "pgr", "tgt", "evt", "dlv", "log", "use", "con"}
PLATFORM_MODULES = Path("accounts/platforms")
# The same words in another meaning: Celery's pool of threads.
OTHER_MEANINGS = {(Path("config/management/commands/up.py"), "threads")}


def test_no_module_has_a_vague_name() -> None:
    names = {part.removesuffix(".py") for path in python_files() for part in path.parts}

    assert [
        name for name in sorted(names) if any(SAYS_NOTHING.fullmatch(word) for word in (name, *name.split("_")))
    ] == []


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
