"""How platforms count text, where X and Mastodon see links in it, and how to cut it to a limit.

Every counter takes any text, costs time linear in its length (100,000 characters: well under a second, whatever they
are) and raises nothing. Sources: Unicode UAX #29 (grapheme clusters), twitter-text v3 (X), Mastodon's
StatusLengthValidator, Threads' publishing documentation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import regex
from twitter_text import extract_urls_with_indices
from twitter_text.regexp.emoji import emoji as x_emoji
from twitter_text.regexp.extract_url import extract_url
from twitter_text.regexp.valid_cctld import valid_cctld
from twitter_text.regexp.valid_domain_chars import valid_domain_chars
from twitter_text.regexp.valid_gtld import valid_gtld
from twitter_text.regexp.valid_punycode import valid_punycode

ELLIPSIS = "…"
URL_LENGTH = 23  # what X and Mastodon count for a URL, however long it is

_CLUSTER = regex.compile(r"\X")
# The characters that emoji are made of; a keycap is the only emoji that starts with an ASCII character.
_EMOJI_PART = r"[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic}|\p{Regional_Indicator}"
_EMOJI_CLUSTER = regex.compile(rf"(?={_EMOJI_PART})\X")
_EMOJI_RUN = regex.compile(
    rf"(?:{_EMOJI_PART}|[\p{{Emoji_Modifier}}\u200D\u20E3\uFE0F\U000E0020-\U000E007F])+", regex.VERSION0
)
# twitter-text v3: these weigh 1, all others 2.
_LIGHT = re.compile(r"[\u0000-\u10FF\u2000-\u200D\u2010-\u201F\u2032-\u2037]")
_LINE_ENDING = re.compile(r"\r\n?")

_HOST_CHAR = valid_domain_chars.pattern
_TOP_LEVEL = re.compile(rf"\.(?:{valid_gtld.pattern}|{valid_cctld.pattern}|{valid_punycode.pattern})", re.IGNORECASE)
# What can stand before the top level, matched backwards from its dot: only the last label may hold no underscore.
_LABELS = regex.compile(rf"(?r)(?:(?:{_HOST_CHAR}[_-]*)*{_HOST_CHAR}\.)*(?:{_HOST_CHAR}-*)*{_HOST_CHAR}")
_JOINED = regex.compile(rf"(?r){_HOST_CHAR}[_-]+")
_SAME_HOST = regex.compile(rf"(?:[_-]*{_HOST_CHAR}|\.(?={_HOST_CHAR}))*")
_BEFORE_HOST = len("https://") + 1  # the protocol and the character before it

_REMOTE_MENTION = re.compile(r"(?<![=/\w])@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)@\w+(?:[.-]+\w+)*", re.IGNORECASE)


def characters(text: str) -> int:
    """Unicode code points."""
    return len(text)


def graphemes(text: str) -> int:
    """Extended grapheme clusters: what a reader takes for one character."""
    return len(_CLUSTER.findall(text))


def utf8_bytes(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def utf16_units(text: str) -> int:
    """UTF-16 code units, as JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def threads_characters(text: str) -> int:
    """Threads: characters, but an emoji counts as many as it has bytes in UTF-8."""
    return len(text) + sum(utf8_bytes(found[0]) - len(found[0]) for found in _EMOJI_CLUSTER.finditer(text))


def weighted(text: str) -> int:
    """X's weighted length: a URL 23, an emoji 2, Latin and its like 1, everything else 2.

    The sum is that of `twitter_text.parse_tweet`, whose own time is quadratic in the text.
    """
    text = _normalized(text)
    total, position = 0, 0
    for start, end in _urls(text):
        total += _weight(text[position:start]) + URL_LENGTH
        position = end
    return total + _weight(text[position:])


def has_linked_url(text: str) -> bool:
    """Whether X makes a link of anything in the text; bare domains such as example.com are links."""
    return next(_urls(_normalized(text)), None) is not None


def mastodon_graphemes(text: str) -> int:
    """Mastodon: grapheme clusters; an http(s) URL counts 23, a mention @user@domain counts as @user."""
    pieces, position = [], 0
    for start, end in _urls(text):
        if text[start:end].lower().startswith(("http://", "https://")):
            pieces += [text[position:start], "x" * URL_LENGTH]
            position = end
    return graphemes(_REMOTE_MENTION.sub(r"@\1", "".join([*pieces, text[position:]])))


def cut(text: str, limit: int, count: Callable[[str], int]) -> str:
    """The text itself where it fits, else its longest beginning that fits together with the ellipsis at its end.

    It ends between words, unless a text without spaces would lose more than half of what fits; it never splits a
    grapheme cluster, nor a URL that other words stand before. `count(result) <= limit` always holds: where not even the
    ellipsis fits, the result is empty.
    """
    if count(text) <= limit:
        return text
    if count(ELLIPSIS) > limit:
        return ""
    ends, word_ends = _boundaries(text)
    words = _longest(text, word_ends, limit, count)
    within = _longest(text, [end for end in ends if end > words], limit, count)
    if words and (within <= 2 * words or "://" in text[words:within]):
        within = words
    return text[: within or words] + ELLIPSIS


def _boundaries(text: str) -> tuple[list[int], list[int]]:
    """Where the text may be cut: after every cluster that is no space, and after every word."""
    ends: list[int] = []
    word_ends: list[int] = []
    for cluster in _CLUSTER.finditer(text):
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
    return _LINE_ENDING.sub("\n", unicodedata.normalize("NFC", text))


def _weight(text: str) -> int:
    """The weight of a text without URLs."""
    text = _EMOJI_RUN.sub(lambda run: x_emoji.sub("\U0001f600", run[0]), text)
    return 2 * len(text) - len(_LIGHT.findall(text))


def _urls(text: str) -> Iterator[tuple[int, int]]:
    """Where twitter-text sees URLs, with or without a protocol, in order.

    Its extractor tries every character as a start and reads on from each to the end of the host, which takes seconds
    for 1,000 characters of `a.a.a.…`. So the starts are narrowed here to hosts that end in a known top level, and the
    extractor judges what is found there.
    """
    position = consumed = 0
    while top_level := _TOP_LEVEL.search(text, position):
        position = top_level.end()
        labels = _LABELS.match(text, consumed, top_level.start())
        if not labels or _goes_on(text, consumed, labels.start(), position):
            continue
        first = max(consumed, labels.start() - _BEFORE_HOST)
        # One character more shows whether the top level really ends there.
        if not (found := extract_url.search(text, first, position + 1)):
            continue
        if not (url := extract_url.match(text, found.start())):
            continue
        position = consumed = max(position, url.end())
        # A URL may not start at the first character of a cut-out text, as it may at the start of the whole text.
        guard = "@" if url.start() else ""
        offset = url.start() - len(guard)
        for entity in extract_urls_with_indices(guard + text[url.start() : url.end()]):
            start = offset + entity["indices"][0]
            yield start, start + len(entity["url"])


def _goes_on(text: str, consumed: int, start: int, end: int) -> bool:
    """Whether a host that an underscore forbids to end at `end` goes on to a later top level (a_b.app.example.com)."""
    if not _JOINED.match(text, consumed, start):
        return False
    later = _TOP_LEVEL.search(text, end)
    return later is not None and _SAME_HOST.fullmatch(text, end, later.start()) is not None
