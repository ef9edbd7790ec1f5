"""Counting the characters of a text as each platform counts them, and cutting texts to a platform's limit.

Unicode's own algorithms are here too, because `regex` and `unicodedata` are quadratic for hostile texts.

Every counter accepts any text, needs time linear in its length (100,000 characters: 0.2 s at most, whatever they are) and
raises nothing. Sources: Unicode UAX #29 (grapheme clusters), twitter-text v3 (X), Mastodon's StatusLengthValidator,
Threads' publishing documentation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import regex

if TYPE_CHECKING:
    from accounts.platforms.links import LinkMentionOrTag

ELLIPSIS = "…"
URL_LENGTH = 23  # the length of any URL for X and Mastodon

# For each regional indicator, `\X` counts those before it. A flag that is followed by another one needs no count.
_CLUSTER_PATTERN = r"(?:\p{RI}\p{RI}(?=\p{RI})|\X)"
_CLUSTER = regex.compile(_CLUSTER_PATTERN)
_MANY_MARKS = regex.compile(r"\p{M}{32,}")
# A keycap is the only emoji that starts with an ASCII character.
_EMOJI_AHEAD = r"(?=[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic}|\p{Regional_Indicator})"
_EMOJI_CLUSTER = regex.compile(_EMOJI_AHEAD + _CLUSTER_PATTERN)
# twitter-text v3: characters with weight 1; all others have weight 2.
_LIGHT = re.compile(r"[\u0000-\u10FF\u2000-\u200D\u2010-\u201F\u2032-\u2037]")
_LINE_ENDING = re.compile(r"\r\n?")

_PROTOCOLS = ("http://", "https://")
_REMOTE_MENTION = re.compile(r"(?<![=/\w])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)@\w+(?:[.-]+\w+)*", re.IGNORECASE)


def code_point_length(text: str) -> int:
    """Character counting: return the length of a text in Unicode code points."""
    return len(text)


def grapheme_clusters(text: str) -> list[str]:
    """Character counting: return the extended grapheme clusters of a text (UAX #29), each seen as one character."""
    found: list[str] = _CLUSTER.findall(text)
    return found


def grapheme_length(text: str) -> int:
    """Character counting: return the length of a text in extended grapheme clusters, each seen as one character."""
    return len(text) - text.count("\r\n") if text.isascii() else len(grapheme_clusters(text))


def utf8_length(text: str) -> int:
    """Character counting: return the length of a text in bytes of UTF-8, as YouTube counts."""
    return len(text.encode("utf-8", "surrogatepass"))


def utf16_length(text: str) -> int:
    """Character counting: return the length of a text in UTF-16 code units, as JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def threads_platform_length(text: str) -> int:
    """Character counting for Threads: return the length of a text in code points, but in bytes of UTF-8 for an emoji."""
    emoji = "".join(_EMOJI_CLUSTER.findall(text))
    return len(text) - len(emoji) + utf8_length(emoji)


def x_weighted_length(text: str) -> int:
    """Character counting for X: return the weighted length of a text: 23 for a URL, 1 for a Latin character, else mostly 2.

    The result equals that of `twitter_text.parse_tweet`, whose running time is quadratic in the length of the text.
    """
    text = _normalized(text)
    pieces = _around(text, find_link_spans(text))
    rest = "\n".join(pieces)  # the separator in place of a URL weighs 1 here, and is no part of an emoji
    if not rest.isascii():
        rest = _x_emoji().sub("\U0001f600", rest)
    return 2 * len(rest) - len(_LIGHT.findall(rest)) + (URL_LENGTH - 1) * (len(pieces) - 1)


@cache
def _x_emoji() -> Any:
    """Character counting for X: return the pattern of the emoji that count as two characters, whatever their length."""
    from twitter_text.regexp.emoji import emoji_list  # noqa: PLC0415 (as in `find_link_spans`)

    from accounts.platforms.links import any_word_pattern  # noqa: PLC0415

    emoji = ("".join(chr(int(code, 16)) for code in each.codepoint.split()) for each in emoji_list)
    return regex.compile(_EMOJI_AHEAD + any_word_pattern(emoji))


def find_link_spans(text: str) -> Iterator[LinkMentionOrTag]:
    """Return the start and end of each link in a text, for counting characters; compiles link patterns on first call.

    Compiling them at the import took a quarter of a process's start.
    """
    from accounts.platforms.links import link_spans  # noqa: PLC0415

    return link_spans(text)


def has_url_by_x_rules(text: str) -> bool:
    """Character counting for X: return whether any part of a text counts as a URL, such as the domain example.com."""
    return next(find_link_spans(_normalized(text)), None) is not None


def mastodon_length(text: str) -> int:
    """Character counting for Mastodon: return a text's length, with 23 for a URL and only `@user` for a mention @user@domain.

    The rest is counted in graphemes.
    """
    urls = (span for span in find_link_spans(text) if text[span[0] : span[0] + 8].lower().startswith(_PROTOCOLS))
    shown = ("x" * URL_LENGTH).join(_around(text, urls))
    return grapheme_length(_REMOTE_MENTION.sub(r"@\1", shown))


def cut_to_limit(text: str, limit: int, count: Callable[[str], int], length: int | None = None) -> str:
    """Cut a text that a platform counts as too long, and add an ellipsis; a text within the limit is unchanged.

    The cut is between words, unless a text without spaces would lose more than half of what fits. It never splits a grapheme
    cluster, nor a URL that follows other words. `count(result) <= limit` always holds; the result is empty if not even the
    ellipsis fits. `length` is `count(text)`, for callers that have it.
    """
    if (count(text) if length is None else length) <= limit:
        return text
    if count(ELLIPSIS) > limit:
        return ""
    ends, word_ends = _boundaries(text, limit, count)
    words = _longest(text, word_ends, limit, count)
    within = _longest(text, [end for end in ends if end > words], limit, count)
    if words and (within <= 2 * words or "://" in text[words:within]):
        within = words
    return text[: within or words] + ELLIPSIS


def _boundaries(text: str, limit: int, count: Callable[[str], int]) -> tuple[list[int], list[int]]:
    """Return where a text may be cut to a platform's limit: after each word, and after each character that is no space.

    Characters are grapheme clusters. Reading stops where the text no longer fits, so that the rest of a long text costs no
    time.
    """
    ends: list[int] = []
    word_ends: list[int] = []
    reach = limit
    for cluster in _CLUSTER.finditer(text):
        if cluster.end() > reach:
            if count(text[: cluster.start()] + ELLIPSIS) > limit:
                break
            reach = 2 * cluster.end()
        if not cluster[0].isspace():
            ends.append(cluster.end())
        elif ends and ends[-1] == cluster.start():
            word_ends.append(cluster.start())
    return ends, word_ends


def _longest(text: str, ends: Sequence[int], limit: int, count: Callable[[str], int]) -> int:
    """Return the last position in `ends` where a text can be cut to be within the limit with an ellipsis; 0 if none.

    The search doubles its range before it halves it, so that it counts only texts of about the limit's length.
    """

    def fits(index: int) -> bool:
        return count(text[: ends[index]] + ELLIPSIS) <= limit

    low, high = -1, 0
    while high < len(ends) and fits(high):
        low, high = high, 2 * high + 1
    high = min(high, len(ends))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return ends[low] if low >= 0 else 0


def nfc_normalized(text: str) -> str:
    """Character counting for X: return the text in Unicode's Normalization Form C."""
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(lambda marks: _in_order(marks[0]), text))


def _in_order(marks: str) -> str:
    """Return combining marks (such as accents) decomposed and in the order of Unicode's NFD, for counting characters.

    `unicodedata` is too slow for many marks.
    """
    decomposed = "".join(unicodedata.normalize("NFD", mark) for mark in marks)
    runs = groupby(decomposed, key=lambda mark: unicodedata.combining(mark) > 0)
    return "".join("".join(sorted(run, key=unicodedata.combining) if combining else run) for combining, run in runs)


def _normalized(text: str) -> str:
    """Character counting for X: return the text in NFC and with one character for each line ending."""
    return _LINE_ENDING.sub("\n", nfc_normalized(text))


def _around(text: str, spans: Iterable[LinkMentionOrTag]) -> list[str]:
    """Return the parts of a text outside the given spans, such as URLs, so that characters are counted without them."""
    pieces, position = [], 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    return [*pieces, text[position:]]
