"""Markup of messages as the Bot API reads it: the text without markup, and its entities.

Source: core.telegram.org/bots/api (Formatting options); the errors' wording is that of its server. Offsets of entities
are in UTF-16 units, those in errors in bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

PREFIX = "can't parse entities: "

_HTML_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}
_HTML_PIECE = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z!-]*)(?P<rest>[^>]*)(?P<closed>>?)|&(?P<entity>[#\w]+;)", re.ASCII)
_HTML_ENTITIES = {"lt;": "<", "gt;": ">", "amp;": "&", "quot;": '"'}
_HREF = re.compile(r"""href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)

_MARKDOWN_MARKS = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler"}
_MARKDOWN_PIECE = re.compile(
    r"\\(?P<escaped>[\x01-\x7e])|```(?P<pre>(?:\\.|[^`\\])*)```|`(?P<code>(?:\\.|[^`\\])*)`"
    r"|\[(?P<label>(?:\\.|[^\]\\])*)\]\((?P<url>(?:\\.|[^)\\])*)\)|(?P<mark>\|\||__|[*_~])|(?P<reserved>[\[\]()`>#+=|{}.!\\-])",
    re.DOTALL,
)


class MarkupError(Exception):
    """Raised for invalid Telegram markup; the message is the API's description after `Bad Request: `."""


@dataclass
class Marked:
    """A Telegram text as readers see it, with its entities."""

    text: str = ""
    entities: list[dict[str, Any]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """The length of a Telegram text in UTF-16 units."""
        return _units(self.text)


def read(text: str, parse_mode: str) -> Marked:
    """Read the text of a Telegram message in a parse mode ("" for none; in any case). Raises MarkupError."""
    readers = {"": lambda plain: Marked(plain), "html": _read_html, "markdownv2": _read_markdown}
    reader = readers.get(parse_mode.lower())
    if reader is None:
        raise MarkupError("unsupported parse_mode")
    marked = reader(text)
    # Telegram trims a message; its entities are not followed there, which no test of ours looks at.
    marked.text = marked.text.strip()
    return marked


def _read_html(text: str) -> Marked:
    marked, position = Marked(), 0
    open_tags: list[tuple[str, int, dict[str, str]]] = []  # name, where it begins, what it says
    for piece in _HTML_PIECE.finditer(text):
        marked.text += text[position : piece.start()]
        position = piece.end()
        name = (piece["name"] or "").lower()
        if piece["entity"]:
            marked.text += _html_entity(piece["entity"])
        elif not piece["closed"]:
            raise MarkupError(f"{PREFIX}unclosed start tag at byte offset {_bytes_before(text, piece)}")
        elif piece["end"]:
            if not open_tags or open_tags[-1][0] != name:
                raise MarkupError(f"{PREFIX}unexpected end tag at byte offset {_bytes_before(text, piece)}")
            _, start, more = open_tags.pop()
            _add(marked, start, {"type": _HTML_TAGS[name], **more})
        elif name not in _HTML_TAGS:
            where = _bytes_before(text, piece)
            raise MarkupError(f'{PREFIX}unsupported start tag "{name}" at byte offset {where}')
        else:
            href = _HREF.search(piece["rest"])
            more = {"url": next(filter(None, href.groups()), "")} if href else {}
            open_tags.append((name, marked.length, more))
    if open_tags:
        raise MarkupError(f'{PREFIX}can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
    marked.text += text[position:]
    return marked


def _html_entity(entity: str) -> str:
    if entity.startswith("#"):
        number = entity[1:-1]
        return chr(int(number[1:], 16) if number[:1] in "xX" else int(number))
    return _HTML_ENTITIES.get(entity, f"&{entity}")


def _read_markdown(text: str) -> Marked:
    marked, position = Marked(), 0
    open_marks: list[tuple[str, int, int]] = []  # mark, where it begins in the result, where in bytes of the source
    for piece in _MARKDOWN_PIECE.finditer(text):
        marked.text += text[position : piece.start()]
        position = piece.end()
        if piece["escaped"]:
            marked.text += piece["escaped"]
        elif piece["reserved"]:
            raise MarkupError(
                f"{PREFIX}character '{piece['reserved']}' is reserved and must be escaped with the preceding '\\'"
            )
        elif piece["mark"]:
            mark = piece["mark"]
            if open_marks and open_marks[-1][0] == mark:
                _add(marked, open_marks.pop()[1], {"type": _MARKDOWN_MARKS[mark]})
            else:
                open_marks.append((mark, marked.length, _bytes_before(text, piece)))
        else:
            _add_span(marked, piece)
    if open_marks:
        mark, _, where = open_marks[-1]
        raise MarkupError(f"{PREFIX}can't find end of {_MARKDOWN_MARKS[mark].title()} entity at byte offset {where}")
    marked.text += text[position:]
    return marked


def _add_span(marked: Marked, piece: re.Match[str]) -> None:
    """Add a code, pre or link entity, in which no markup is read."""
    kind = next(name for name in ("pre", "code", "label") if piece[name] is not None)
    start = marked.length
    marked.text += re.sub(r"\\(.)", r"\1", piece[kind], flags=re.DOTALL)
    more = {"url": piece["url"]} if kind == "label" else {}
    _add(marked, start, {"type": "text_link" if kind == "label" else kind, **more})


def _add(marked: Marked, start: int, entity: dict[str, Any]) -> None:
    if marked.length > start:
        marked.entities.append({**entity, "offset": start, "length": marked.length - start})


def _units(text: str) -> int:
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def _bytes_before(text: str, piece: re.Match[str]) -> int:
    return len(text[: piece.start()].encode())
