"""Files, functions and the scripts of the pages stay below the size limits."""

from __future__ import annotations

import ast

from tests.architecture.sources import ROOT, files_named, python_files

FILE_LINES, FUNCTION_LINES, SCRIPT_LINES = 300, 50, 600
SCRIPT_FOLDERS = {"config", "posts", "media", "accounts", "workspaces", "templates"}


def test_no_file_is_long() -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in python_files()}

    assert len(lengths) > 100
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES} == {}


def test_no_function_is_long() -> None:
    long = {}
    for path in python_files():
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long[f"{path}: {node.name}"] = lines

    assert long == {}


def test_the_scripts_of_all_pages_together_are_short() -> None:
    """All scripts of the dashboard, of the API's reference and of the service worker count."""
    scripts = [ROOT / path for path in files_named("*.js") if path.parts[0] in SCRIPT_FOLDERS]

    assert len(scripts) >= 8
    assert sum(len(path.read_text().splitlines()) for path in scripts) < SCRIPT_LINES
