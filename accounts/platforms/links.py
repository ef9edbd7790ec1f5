"""Finding the URLs in a text that X and Mastodon count as links.

It finds the same URLs as the library twitter-text, but in linear time. twitter-text's own extractor tries every character as
the start of a URL and reads on from each to the end of the host. Here the text is split into hosts first, and each host is
read once. The characters, top-level domains, paths and queries are those of twitter-text's own patterns; a property test
compares the spans with the extractor's.

What the extractor has read as a URL cannot be part of another one, even where it then decides that it is no link. So
these are found as well, and left out at the end.
"""

from __future__ import annotations

import re
from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator
from encodings.idna import nameprep
from encodings.punycode import generate_integers
from functools import lru_cache
from stringprep import b1_set

from twitter_text.extract_urls import max_tco_slug_length, max_url_length
from twitter_text.regexp.latin_accent_chars import latin_accent_chars
from twitter_text.regexp.valid_cctld import valid_cctld
from twitter_text.regexp.valid_domain_chars import valid_domain_chars
from twitter_text.regexp.valid_gtld import valid_gtld
from twitter_text.regexp.valid_port_number import valid_port_number
from twitter_text.regexp.valid_punycode import valid_punycode
from twitter_text.regexp.valid_tco_url import valid_tco_url
from twitter_text.regexp.valid_url_path import valid_url_path
from twitter_text.regexp.valid_url_preceding_chars import valid_url_preceding_chars
from twitter_text.regexp.valid_url_query_chars import valid_url_query_chars
from twitter_text.regexp.valid_url_query_ending_chars import valid_url_query_ending_chars

LinkMentionOrTag = tuple[int, int]


def any_word_pattern(words: Iterable[str]) -> str:
    """Find links: return a regular expression that matches any of `words`, such as top-level domains.

    Longer words come before the words that they begin with. In the pattern words share their beginnings, and alternatives
    start with different characters, so that matching costs time by the length of a word, not by their number.
    """
    rests: defaultdict[str, set[str]] = defaultdict(set)
    is_word = False
    for word in words:
        if word:
            rests[word[0]].add(word[1:])
        else:
            is_word = True
    starts: defaultdict[str, list[str]] = defaultdict(list)
    for character, following in sorted(rests.items()):
        starts["" if following == {""} else any_word_pattern(following)].append(character)
    pattern = "|".join(f"[{''.join(map(re.escape, characters))}]{rest}" for rest, characters in starts.items())
    return f"(?:{pattern})?" if is_word else f"(?:{pattern})"


def _words(pattern: str) -> list[str]:
    """Find links: return top-level domains of one kind, such as country codes, from twitter-text's regular expressions."""
    return pattern.removeprefix("(?:(?:").removesuffix(")(?=[^0-9a-zA-Z@+-]|$))").split("|")


_TOP_LEVEL = (
    rf"(?:{any_word_pattern(_words(valid_gtld.pattern) + _words(valid_cctld.pattern))}(?=[^0-9a-zA-Z@+-]|$)"
    rf"|{valid_punycode.pattern})"
)
_CHARACTER = valid_domain_chars.pattern
_LABEL = rf"{_CHARACTER}++(?:[_-]++{_CHARACTER}++)*+"
_LAST_LABEL = rf"{_CHARACTER}++(?:-++{_CHARACTER}++)*+"  # directly before the top-level domain: without underscores

_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*+")
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)*{_LAST_LABEL}\.{_TOP_LEVEL}", re.IGNORECASE)
_DOMAIN_END = re.compile(rf"\.{_TOP_LEVEL}", re.IGNORECASE)
_PROTOCOL = re.compile("https?://", re.IGNORECASE)
_BEFORE = re.compile(valid_url_preceding_chars.pattern, re.IGNORECASE)
_BEFORE_HOST = re.compile(rf"{valid_url_preceding_chars.pattern}(?={_CHARACTER})", re.IGNORECASE)
_AFTER_DOMAIN = re.compile(
    rf"(?::{valid_port_number.pattern})?(/{valid_url_path.pattern}*)?"
    rf"(?:\?{valid_url_query_chars.pattern}*{valid_url_query_ending_chars.pattern})?",
    re.IGNORECASE,
)
_NO_LINK_AFTER = ("-", "_", ".", "/")  # characters after which a URL without a protocol is not a link

_ASCII = f"-a-z0-9{latin_accent_chars.pattern}"
_ONLY_ASCII = re.compile(rf"[{_ASCII}.]++", re.IGNORECASE)
# ASCII labels in sequence: up to the last top-level domain among them (group 1), otherwise all of them, which are skipped.
_ASCII_LABELS = re.compile(rf"((?:[{_ASCII}]++\.)+{_TOP_LEVEL})|[{_ASCII}]++(?:\.[{_ASCII}]++)*+", re.IGNORECASE)

_LONG_LABEL = re.compile(r"[^.]{64}")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")  # the characters that IDNA treats as dots
_IGNORED = dict.fromkeys(b1_set)
_IDNA_PREFIX = "xn--"
_MAX_LABEL = 63  # bytes
_MAX_COMPOSED = 4  # at most this many characters become one by Unicode's composition
# Letters that nameprep does not change, in any combination: of Latin, Cyrillic, Japanese, Chinese and Korean.
UNCHANGED_BY_NAMEPREP = re.compile(
    "[-a-z0-9\u00e0-\u00f6\u00f8-\u00ff\u0430-\u045f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]+"
)


def link_spans(text: str) -> Iterator[LinkMentionOrTag]:
    """Find the links in a text as X and Mastodon count them: return the start and end of each, with or without a protocol."""
    read = 0  # the end of the last URL that the extractor reads, whether it is a link or not
    for host in _HOST.finditer(text) if "." in text else ():
        if host.lastindex is None or host.end() <= read:
            continue
        start, domain = _first_url(text, host.start(), host.end(), read)
        if domain:
            start, links_here = _links_of(text, start, domain.span())
            read = start
            yield from links_here
        if start < host.end():
            read = max(read, _end_of_last_url(text, start, host.end()))


def _first_url(text: str, start: int, end: int, read: int) -> tuple[int, re.Match[str] | None]:
    """Find links: return start and domain of the first link in `text[start:end]`; without a link, the domain is None.

    The domain extends to the last top-level domain that may end it.
    """
    if text.startswith("://", max(start - 3, 0)):
        for protocol in (start - 8, start - 7):
            domain = _DOMAIN.match(text, start) if _is_protocol(text, protocol, start, read) else None
            if domain:
                return protocol, domain
    before = _BEFORE_HOST.search(text, max(read, start - 1), end)
    if not before:
        return end, None
    domain = _DOMAIN.match(text, before.end())
    if not domain and before.span() == (0, 1):  # the text's first character may belong to the domain instead
        domain = _DOMAIN.match(text)
    return domain.start() if domain else before.end(), domain


def _is_protocol(text: str, start: int, end: int, read: int) -> bool:
    """Find links: return whether `text[start:end]` is a protocol, such as `https://`, at a place where a link may begin."""
    if start < 0 or not _PROTOCOL.fullmatch(text, start, end):
        return False
    return start == 0 or (start > read and _BEFORE.fullmatch(text, start - 1, start) is not None)


def _end_of_last_url(text: str, start: int, end: int) -> int:
    """Find links: return the end of a URL in a host name that twitter-text reads but does not count as a link; 0 if none.

    It is not a link because the label before its top-level domain has an underscore, and its domain begins after that.
    """
    dot = text.rfind(".", start + 1, end)
    domain = _DOMAIN_END.match(text, dot) if dot > 0 else None
    return _after_domain(text, domain.end())[0] if domain and domain.end() >= end else 0


def _after_domain(text: str, position: int) -> tuple[int, bool]:
    """Find links: return the end of the link whose domain ends at `position`, and whether the link has a path."""
    rest = _AFTER_DOMAIN.match(text, position)
    return (rest.end(), rest[1] is not None) if rest else (position, False)


def _links_of(text: str, start: int, domain: LinkMentionOrTag) -> tuple[int, list[LinkMentionOrTag]]:
    """Find links: return the end of the URL at `start`, and the spans in this URL that X and Mastodon count as links."""
    end, has_path = _after_domain(text, domain[1])
    url, name, protocol_length = text[start:end], text[slice(*domain)], domain[0] - start
    if not protocol_length:
        return end, [] if text[start - 1 : start] in _NO_LINK_AFTER else _bare_links(url, name, start, has_path)
    if not _is_short_enough(url, name, protocol_length):
        return end, []
    if not (short := valid_tco_url.search(url)):
        return end, [(start, end)]
    return end, [(start, start + short.end())] if len(short[1]) <= max_tco_slug_length else []


def _bare_links(url: str, domain: str, start: int, has_path: bool) -> list[LinkMentionOrTag]:
    """Return the spans of the links in a URL without a protocol: one link for each ASCII domain in its host name.

    The URL's path belongs to the last link.
    """
    spans = [(0, len(domain))]
    if not _ONLY_ASCII.fullmatch(domain):
        spans = [found.span() for found in _ASCII_LABELS.finditer(domain) if found[1]]
    if not spans or not _is_short_enough(url, domain, len("https://")):
        return []
    if has_path:
        first, last = spans[-1]
        spans[-1] = first, first + len(url.replace(domain, domain[first:last]))
    return [(start + first, start + last) for first, last in spans]


def _is_short_enough(url: str, domain: str, protocol_length: int) -> bool:
    """Find links: return whether a URL's domain can be encoded in ASCII and the encoded URL is short enough for a link."""
    if len(url) - len(domain) > max_url_length:
        return False
    encoded = idna_length_or_zero(domain)
    return bool(encoded) and protocol_length + len(url) - len(domain) + encoded <= max_url_length


def idna_length_or_zero(domain: str) -> int:
    """Return the length of the domain of a link in IDNA's ASCII encoding (RFC 3490); 0 if it cannot be encoded.

    A domain with an empty label cannot be encoded. The length is that of `domain.encode("idna")`, which takes time quadratic
    in the length of a label, however long it is.
    """
    if domain.isascii():
        return 0 if _LONG_LABEL.search(domain) else len(domain)
    lengths = [_label_length(label) for label in _DOTS.split(domain)]
    return sum(lengths) + len(lengths) - 1 if all(lengths) else 0


def _label_length(label: str) -> int:
    if not label.isascii():
        label = label.translate(_IGNORED)
        if len(label) <= _MAX_LABEL * _MAX_COMPOSED:
            return _international_length(label)
    return len(label) if len(label) <= _MAX_LABEL else 0


@lru_cache(maxsize=16_384)
def _international_length(label: str) -> int:
    try:
        prepared = label if UNCHANGED_BY_NAMEPREP.fullmatch(label) else nameprep(label)
    except UnicodeError:
        return 0
    length = len(prepared)
    if not prepared.isascii():
        if prepared.startswith(_IDNA_PREFIX) or length + len(_IDNA_PREFIX) > _MAX_LABEL:  # Punycode shortens nothing
            return 0
        length = len(_IDNA_PREFIX) + punycode_length_of_label(prepared)
    return length if length <= _MAX_LABEL else 0


def punycode_length_of_label(text: str) -> int:
    """Return the length of a link's domain label in Punycode (RFC 3492), the same as of `label.encode("punycode")`."""
    basic = sum(character < "\x80" for character in text)
    return basic + bool(basic) + len(generate_integers(basic, list(_deltas(text))))


def _deltas(text: str) -> Iterator[int]:
    """Yield the deltas of Punycode (RFC 3492) for a label of a link's domain, one per non-ASCII character."""
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
