"""How platforms count text, and how to cut it to a limit.

Every counter takes any text, takes time linear in its length (100,000 characters: 0.2 s at most, whatever they are) and
raises nothing. Sources: Unicode UAX #29 (grapheme clusters), twitter-text v3 (X), Mastodon's StatusLengthValidator,
Threads' publishing documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import regex
from twitter_text.regexp.emoji import emoji_list

from accounts.platforms.links import Span, links
from accounts.platforms.unicode_text import CLUSTER, clusters, composed
from accounts.platforms.word_patterns import any_of

ELLIPSIS = "…"
URL_LENGTH = 23  # what X and Mastodon count for a URL, however long it is

# A keycap is the only emoji that starts with an ASCII character.
_EMOJI_AHEAD = r"(?=[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic}|\p{Regional_Indicator})"
_CLUSTER = regex.compile(CLUSTER)
_EMOJI_CLUSTER = regex.compile(_EMOJI_AHEAD + CLUSTER)
_X_EMOJI = regex.compile(
    _EMOJI_AHEAD + any_of("".join(chr(int(code, 16)) for code in each.codepoint.split()) for each in emoji_list)
)
# twitter-text v3: these weigh 1, all others 2.
_LIGHT = re.compile(r"[\u0000-\u10FF\u2000-\u200D\u2010-\u201F\u2032-\u2037]")
_LINE_ENDING = re.compile(r"\r\n?")

_PROTOCOLS = ("http://", "https://")
_REMOTE_MENTION = re.compile(r"(?<![=/\w])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)@\w+(?:[.-]+\w+)*", re.IGNORECASE)


def characters(text: str) -> int:
    """Unicode code points."""
    return len(text)


def graphemes(text: str) -> int:
    """Extended grapheme clusters: what a reader takes for one character."""
    return len(text) - text.count("\r\n") if text.isascii() else len(clusters(text))


def utf8_bytes(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def utf16_units(text: str) -> int:
    """UTF-16 code units, as JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def threads_characters(text: str) -> int:
    """Threads: characters, but an emoji counts as many as it has bytes in UTF-8."""
    emoji = "".join(_EMOJI_CLUSTER.findall(text))
    return len(text) - len(emoji) + utf8_bytes(emoji)


def weighted(text: str) -> int:
    """X's weighted length: a URL 23, an emoji 2, Latin and its like 1, everything else 2.

    The sum is that of `twitter_text.parse_tweet`, whose own time is quadratic in the text.
    """
    text = _normalized(text)
    pieces = _around(text, links(text))
    rest = "\n".join(pieces)  # what stands for a URL weighs 1 here, and is no part of an emoji
    if not rest.isascii():
        rest = _X_EMOJI.sub("\U0001f600", rest)
    return 2 * len(rest) - len(_LIGHT.findall(rest)) + (URL_LENGTH - 1) * (len(pieces) - 1)


def has_linked_url(text: str) -> bool:
    """Whether X makes a link of anything in the text; bare domains such as example.com are links."""
    return next(links(_normalized(text)), None) is not None


def mastodon_graphemes(text: str) -> int:
    """Mastodon: grapheme clusters; an http(s) URL counts 23, a mention @user@domain counts as @user."""
    urls = (span for span in links(text) if text[span[0] : span[0] + 8].lower().startswith(_PROTOCOLS))
    shown = ("x" * URL_LENGTH).join(_around(text, urls))
    return graphemes(_REMOTE_MENTION.sub(r"@\1", shown))


def cut(text: str, limit: int, count: Callable[[str], int], length: int | None = None) -> str:
    """The text itself where it fits, else its longest beginning that fits together with the ellipsis at its end.

    It ends between words, unless a text without spaces would lose more than half of what fits; it never splits a
    grapheme cluster, nor a URL that other words stand before. `count(result) <= limit` always holds: where not even the
    ellipsis fits, the result is empty. `length` is `count(text)`, for callers that know it.
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
    """Where the text may be cut: after every cluster that is no space, and after every word.

    It reads on until what it has read no longer fits, so that the rest of a long text costs nothing.
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
    """The last of `ends` up to which the text and an ellipsis fit; 0 when none does.

    It doubles its reach before it halves, so that it counts texts of about the limit's length, never the whole text.
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


def _normalized(text: str) -> str:
    """The text as X counts it: composed, each line ending one character."""
    return _LINE_ENDING.sub("\n", composed(text))


def _around(text: str, spans: Iterable[Span]) -> list[str]:
    """What stands before, between and behind these spans of the text."""
    pieces, position = [], 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    return [*pieces, text[position:]]
