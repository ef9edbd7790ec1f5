"""LinkedIn's little text format, in which a post's commentary is written: characters with a meaning are escaped.

LinkedIn cuts a post at such a character if it is not escaped, without an error. Mentions in the text,
`@[Name](urn:li:organization:1)`, stay mentions, and hashtags are written as templates. Source: learn.microsoft.com/linkedin,
little text format.
"""

from __future__ import annotations

import re

_RESERVED = re.compile(r"[\\|{}@\[\]()<>#*_~]")
_ELEMENT = re.compile(
    r"@\[(?P<name>[^\[\]\n]{1,200})\]\((?P<urn>urn:li:(?:person|organization):[A-Za-z0-9_-]{1,100})\)"
    r"|(?:(?<!\S)|(?<=[(\[{\"'“‘«¿¡]))(?P<sign>[#\uFF03])(?P<tag>\w*[^\W\d_]\w*)"
)


def little_text(text: str) -> str:
    """A text in LinkedIn's little text format, which LinkedIn shows unchanged."""
    pieces, position = [], 0
    for found in _ELEMENT.finditer(text):
        pieces += [_escaped(text[position : found.start()]), _element(found)]
        position = found.end()
    return "".join([*pieces, _escaped(text[position:])])


def _element(found: re.Match[str]) -> str:
    if found["urn"]:
        return f"@[{_escaped(found['name'])}]({found['urn']})"
    return f"{{hashtag|\\{found['sign']}|{_escaped(found['tag'])}}}"


def _escaped(text: str) -> str:
    return _RESERVED.sub(r"\\\g<0>", text)
