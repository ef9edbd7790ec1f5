"""Files and functions stay below the size limits."""

from __future__ import annotations

import ast

from tests.architecture.sources import ROOT, python_files

FILE_LINES, FUNCTION_LINES = 300, 50


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
