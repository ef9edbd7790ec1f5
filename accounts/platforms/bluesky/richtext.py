"""Rich text of Bluesky posts: the marks (facets) that make links, mentions and tags in a text clickable.

The rules are those of Bluesky's own detector (bluesky-social/atproto, packages/api, rich-text), with these differences:
a bare domain may hold hyphens and ends where the domain or its path does; a `)` is stripped when it is unmatched; of
two that overlap only the first in the order link, mention, tag remains; nothing that the lexicon forbids is detected.
Offsets of a facet are in bytes of UTF-8, the end excluded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import regex

from accounts.platforms.counting import grapheme_length, utf8_length

MAX_TAG_GRAPHEMES = 64
MAX_TAG_BYTES = 640

_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_LINK = regex.compile(
    rf"""(?<![^\s(])
    (?: [Hh][Tt][Tt][Pp][Ss]?://[\w\[]\S*
      | (?P<domain>[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.{_LABEL})+)
        (?![A-Za-z0-9_@(]|\.\w)  # else it is an e-mail address, a call such as array.map(), or a part of a longer name
        (?::\d+)?(?:[/?\#]\S*)?
    )""",
    regex.VERBOSE,
)
_MENTION = regex.compile(rf"(?<![^\s(])@((?:{_LABEL}\.)+{_LABEL})(?![A-Za-z0-9_]|\.\w)")
# What follows # is not a variation selector (that is the keycap emoji) and holds none of the invisible spaces.
_TAG = regex.compile(r"(?<!\S)[#＃](?!\ufe0f)([^\s\u00ad\u2060\u200a-\u200d\u20e2]+)")
_TAG_END = regex.compile(r"\p{P}+$")
_TAG_SUBSTANCE = regex.compile(r"[^0-9\p{P}]")
_TICKER = regex.compile(r"""(?<![^\s(])\$([A-Za-z][A-Za-z0-9]{0,4})(?=\s|$|[.,;:!?)"'’])""")


@dataclass(frozen=True)
class LinkMentionOrTag:
    """A link, mention or tag in a Bluesky text, from code point `start` to `end`; `value` is the URI, handle or tag."""

    start: int
    end: int
    kind: Literal["link", "mention", "tag"]
    value: str


def find_links_mentions_and_tags(text: str) -> list[LinkMentionOrTag]:
    """Return the links, mentions and tags in a Bluesky post's text, in order of appearance and without overlaps."""
    spans: list[LinkMentionOrTag] = []
    for span in (*_links(text), *_mentions(text), *_tags(text), *_tickers(text)):
        if all(span.end <= other.start or other.end <= span.start for other in spans):
            spans.append(span)
    return sorted(spans, key=lambda span: span.start)


def first_link(text: str) -> str | None:
    """Return the URL of the first link in a Bluesky post's text; None if the text has no link."""
    return next((span.value for span in _links(text)), None)


def facets_of_spans(text: str, spans: list[LinkMentionOrTag], dids: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the marks (facets) that make links, mentions and tags in a Bluesky text clickable.

    A mention whose handle has no DID stays plain text.
    """
    result = []
    for span in spans:
        feature = _feature(span, dids)
        if feature:
            start = utf8_length(text[: span.start])
            end = start + utf8_length(text[span.start : span.end])
            result.append({"index": {"byteStart": start, "byteEnd": end}, "features": [feature]})
    return result


def _feature(span: LinkMentionOrTag, dids: Mapping[str, str]) -> dict[str, str] | None:
    if span.kind == "link":
        return {"$type": "app.bsky.richtext.facet#link", "uri": span.value}
    if span.kind == "tag":
        return {"$type": "app.bsky.richtext.facet#tag", "tag": span.value}
    did = dids.get(span.value)
    return {"$type": "app.bsky.richtext.facet#mention", "did": did} if did else None


def _links(text: str) -> Iterator[LinkMentionOrTag]:
    for match in _LINK.finditer(text):
        domain = match["domain"]
        if domain and not _has_existing_tld(domain):
            continue
        uri = match[0]
        if uri[-1] in ".,;:!?":
            uri = uri[:-1]
        if uri[-1] == ")" and uri.count(")") > uri.count("("):
            uri = uri[:-1]
        yield LinkMentionOrTag(match.start(), match.start() + len(uri), "link", f"https://{uri}" if domain else uri)


def _mentions(text: str) -> Iterator[LinkMentionOrTag]:
    for match in _MENTION.finditer(text):
        handle = match[1]
        if _has_existing_tld(handle) or handle.endswith(".test"):  # .test: servers of developers
            yield LinkMentionOrTag(match.start(), match.end(), "mention", handle.lower())


def _tags(text: str) -> Iterator[LinkMentionOrTag]:
    for match in _TAG.finditer(text):
        tag = _TAG_END.sub("", match[1])
        fits = grapheme_length(tag) <= MAX_TAG_GRAPHEMES and utf8_length(tag) <= MAX_TAG_BYTES
        if fits and _TAG_SUBSTANCE.search(tag):
            yield LinkMentionOrTag(match.start(), match.start(1) + len(tag), "tag", tag)


def _tickers(text: str) -> Iterator[LinkMentionOrTag]:
    for match in _TICKER.finditer(text):
        yield LinkMentionOrTag(match.start(), match.end(), "tag", f"${match[1].upper()}")


def _has_existing_tld(domain: str) -> bool:
    """Return whether a word in a Bluesky text ends in a real top-level domain: "example.com" does, "end.So" does not.

    A link's top-level domain exists and is in lower case.
    """
    # Imported at the first call: compiling these patterns takes long.
    from twitter_text.regexp.valid_cctld import valid_cctld  # noqa: PLC0415
    from twitter_text.regexp.valid_gtld import valid_gtld  # noqa: PLC0415

    tld = domain.rpartition(".")[2]
    return bool(valid_gtld.fullmatch(tld) or valid_cctld.fullmatch(tld))
