"""The length of a domain in IDNA encoding (RFC 3490): that of `domain.encode("idna")`, computed in linear time.

Python's codec takes time quadratic in the length of a label, even of one that is far too long.
"""

from __future__ import annotations

import re
from bisect import bisect, insort
from collections.abc import Iterator
from encodings.idna import nameprep
from encodings.punycode import generate_integers
from functools import lru_cache
from stringprep import b1_set

_LONG_LABEL = re.compile(r"[^.]{64}")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")  # the characters that IDNA treats as dots
_IGNORED = dict.fromkeys(b1_set)
_PREFIX = "xn--"
_MOST = 63  # maximum bytes of a label
_MOST_COMPOSED = 4  # at most this many characters become one by Unicode's composition
# Letters that nameprep never changes, in any combination: of Latin, Cyrillic, Japanese, Chinese and Korean.
PREPARED = re.compile(
    "[-a-z0-9\u00e0-\u00f6\u00f8-\u00ff\u0430-\u045f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]+"
)


def encoded_length(domain: str) -> int:
    """The length of a domain in IDNA's ASCII encoding; 0 if it cannot be encoded. No label may be empty."""
    if domain.isascii():
        return 0 if _LONG_LABEL.search(domain) else len(domain)
    lengths = [_label_length(label) for label in _DOTS.split(domain)]
    return sum(lengths) + len(lengths) - 1 if all(lengths) else 0


def _label_length(label: str) -> int:
    if not label.isascii():
        label = label.translate(_IGNORED)
        if len(label) <= _MOST * _MOST_COMPOSED:
            return _international_length(label)
    return len(label) if len(label) <= _MOST else 0


@lru_cache(maxsize=16_384)
def _international_length(label: str) -> int:
    try:
        prepared = label if PREPARED.fullmatch(label) else nameprep(label)
    except UnicodeError:
        return 0
    length = len(prepared)
    if not prepared.isascii():
        if prepared.startswith(_PREFIX) or length + len(_PREFIX) > _MOST:  # Punycode shortens nothing
            return 0
        length = len(_PREFIX) + punycode_length(prepared)
    return length if length <= _MOST else 0


def punycode_length(text: str) -> int:
    """The length of a text in Punycode, `text.encode("punycode")` (RFC 3492)."""
    basic = sum(character < "\x80" for character in text)
    return basic + bool(basic) + len(generate_integers(basic, list(_deltas(text))))


def _deltas(text: str) -> Iterator[int]:
    """The numbers that Punycode encodes: what its decoder skips before each insertion of a character that is not ASCII."""
    inserted = [position for position, character in enumerate(text) if character < "\x80"]
    code, last, skipped = 0x80, -1, 0
    for character, position in sorted((ord(character), position) for position, character in enumerate(text)):
        if character < 0x80:
            continue
        skipped += (len(inserted) + 1) * (character - code)
        index = bisect(inserted, position)
        yield skipped + index - last - 1
        insort(inserted, position)
        code, last, skipped = character, index, 0
