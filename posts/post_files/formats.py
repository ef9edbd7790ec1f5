"""The formats of files of posts: CSV, JSON and YAML, read into rows of texts and written from them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.formats import number_format
from django.utils.translation import gettext as _

COLUMNS = ("post_group_id", "status", "scheduled_at", "timezone", "accounts", "text", "media")
LIST_COLUMNS = ("accounts", "media")  # ids or handles, separated by spaces; JSON and YAML files may have lists
MAX_ROWS, MAX_FILE_BYTES = 500, 1_000_000
MAX_YAML_DEPTH = 4  # posts: - accounts: [one]
# Spreadsheets take text that starts with one of these for a formula; the file then has an apostrophe before it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # null and halves of characters, which JSON and YAML can escape
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


class UnreadableFile(Exception):
    """Error for a file of posts that cannot be read; the message is a sentence for people."""


@dataclass(frozen=True)
class FileRow:
    """A row of a file of posts: its number from 1, and its cells by column, only for the columns that the row has."""

    number: int
    cells: Mapping[str, str]


class _TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # written in C if it was compiled
    """The safe YAML loader for files of posts, which reads numbers, times, yes and no as the texts that are written."""


_TextLoader.yaml_implicit_resolvers = {}


def too_large_sentence() -> str:
    """Return the sentence for people about a file of posts, in any of the formats, that has too many bytes."""
    return _("The file is too large: at most %(most)s bytes.") % {"most": number_format(MAX_FILE_BYTES, force_grouping=True)}


def parse_file_rows(content: bytes, filename: str) -> list[FileRow]:
    """Return the rows of a file of posts, whose format its name says. Raises UnreadableFile."""
    if len(content) > MAX_FILE_BYTES:
        raise UnreadableFile(too_large_sentence())
    read = _READERS.get(filename.rpartition(".")[2].lower())
    if read is None:
        raise UnreadableFile(_("Choose a file whose name ends with .csv, .json, .yaml or .yml."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFile(_("The file is not written in UTF-8. Save it as “CSV UTF-8”.")) from None
    rows = [FileRow(number, cells) for number, cells in enumerate(read(text), start=1) if any(cells.values())]
    if any(_NO_TEXT.search(value) for row in rows for value in row.cells.values()):
        raise UnreadableFile(_("The file contains characters that are not text."))
    if not rows:
        raise UnreadableFile(_("The file has no rows."))
    if len(rows) > MAX_ROWS:
        words = _("The file has %(count)d rows; at most %(most)d are read at a time. Split it.")
        raise UnreadableFile(words % {"count": len(rows), "most": MAX_ROWS})
    return rows


def _read_csv(text: str) -> Iterator[dict[str, str]]:
    first_line = text.partition("\n")[0]
    delimiter = max(",;\t", key=first_line.count)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = [name.strip().lower() for name in next(reader, [])]
        _check_columns(header, 0)
        for number, values in enumerate(reader, start=1):
            if len(values) > len(header):
                words = _("Row %(number)d has more cells than the first line has columns.")
                raise UnreadableFile(words % {"number": number})
            cells = dict(zip(header, values, strict=False))
            yield {name: _unguarded(value).replace("\r\n", "\n") for name, value in cells.items()}
    except csv.Error as error:
        raise UnreadableFile(_("The file is not correct CSV: %(problem)s.") % {"problem": error}) from None


def _read_json(text: str) -> Iterator[dict[str, str]]:
    try:
        return _cells_of_records(json.loads(text))
    except (ValueError, RecursionError):
        raise UnreadableFile(_("The file is not correct JSON.")) from None


def _read_yaml(text: str) -> Iterator[dict[str, str]]:
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_TextLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > MAX_YAML_DEPTH or getattr(event, "tag", None):
                raise UnreadableFile(_("The file uses aliases or tags of YAML, or is nested too deeply."))
        return _cells_of_records(yaml.load(text, Loader=_TextLoader))  # noqa: S506 - a subclass of the safe loader
    except yaml.YAMLError:
        raise UnreadableFile(_("The file is not correct YAML.")) from None


def _cells_of_records(found: Any) -> Iterator[dict[str, str]]:
    """Yield the cells of each post in a JSON or YAML file: a list of posts, or an object whose `posts` is that list."""
    records = found.get("posts") if isinstance(found, dict) else found
    if not isinstance(records, list):
        raise UnreadableFile(_("The file must contain a list of posts."))
    return (_cells_of_record(number, record) for number, record in enumerate(records, start=1))


def _cells_of_record(number: int, record: Any) -> dict[str, str]:
    if not isinstance(record, dict):
        raise UnreadableFile(_("Row %(number)d is not a post with fields.") % {"number": number})
    _check_columns(list(record), number)
    return {name: _cell(number, name, value) for name, value in record.items()}


def _cell(number: int, name: str, value: Any) -> str:
    if name in LIST_COLUMNS and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    if value is None or isinstance(value, str):
        return value or ""
    raise UnreadableFile(_("Row %(number)d: %(name)s must be text.") % {"number": number, "name": name})


def _check_columns(names: list[Any], number: int) -> None:
    where = _("Row %(number)d") % {"number": number} if number else _("The first line")
    for name in names:
        if name not in COLUMNS:
            words = _("%(where)s has the column “%(name)s”. There are: %(columns)s.")
            raise UnreadableFile(words % {"where": where, "name": str(name)[:50], "columns": ", ".join(COLUMNS)})
    if len(set(names)) < len(names):
        raise UnreadableFile(_("%(where)s has a column twice.") % {"where": where})
    if number == 0 and not {"post_group_id", "text"} & set(names):
        raise UnreadableFile(_("The first line must name the columns, such as text, accounts, scheduled_at."))


def _unguarded(cell: str) -> str:
    return cell[1:] if _GUARDED.match(cell) else cell


def rows_as_file_text(rows: Iterable[Mapping[str, str]], suffix: str) -> str:
    """Return the content of a file of posts with these rows, in the format of the suffix: csv, json or yaml."""
    return _WRITERS[suffix](list(rows))


def _write_csv(rows: list[Mapping[str, str]]) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: f"'{value}" if _FORMULA.match(value) else value for name, value in row.items()})
    return buffer.getvalue()


def _write_json(rows: list[Mapping[str, str]]) -> str:
    return json.dumps({"posts": list(map(_record, rows))}, ensure_ascii=False, indent=2) + "\n"


def _write_yaml(rows: list[Mapping[str, str]]) -> str:
    return yaml.safe_dump({"posts": list(map(_record, rows))}, allow_unicode=True, sort_keys=False, width=120)


def _record(row: Mapping[str, str]) -> dict[str, str | list[str]]:
    return {name: value.split() if name in LIST_COLUMNS else value for name, value in row.items()}


_READERS: Mapping[str, Callable[[str], Iterator[dict[str, str]]]] = {
    "csv": _read_csv,
    "json": _read_json,
    "yaml": _read_yaml,
    "yml": _read_yaml,
}
_WRITERS: Mapping[str, Callable[[list[Mapping[str, str]]], str]] = {
    "csv": _write_csv,
    "json": _write_json,
    "yaml": _write_yaml,
}
FORMATS = tuple(_WRITERS)
