"""Reading untrusted web pages for link cards: a page's title, its description and the URL of its picture.

The page is untrusted: it is fetched through config/outbound, this module follows redirects itself, and everything is bounded:
bytes, seconds, tags. Nothing in the page is executed. Sources: ogp.me, Twitter's cards markup, HTML's own elements.
"""

from __future__ import annotations

import codecs
import io
import re
import time
from dataclasses import dataclass
from html.parser import HTMLParser

from django.utils.translation import gettext_noop
from yarl import URL

from accounts.platforms.counting import cut_to_limit, grapheme_length
from config.outbound import (
    DestinationNotAllowed,
    NotSentToForbiddenHost,
    OutboundError,
    Response,
    ResponseTooLarge,
    check_url_without_lookup,
    download,
    total_deadline,
)

PAGE_SECONDS, PICTURE_SECONDS = 6.0, 4.0  # redirects included
MAX_PAGE_BYTES = 500_000  # metadata is at the beginning of a page
MAX_PICTURE_BYTES = 5_000_000
MAX_REDIRECTS = 3
MAX_TITLE, MAX_DESCRIPTION = 300, 1000  # graphemes

_REDIRECTS = (301, 302, 303, 307, 308)
_HTML = ("text/html", "application/xhtml+xml")
_MAX_TAGS = 5_000
_PARSER_SECONDS = 1.0  # processor time in seconds
_PARSED_AT_ONCE = 16_384  # characters
_MAX_RAW_TEXT = 5_000
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s{0,10}=\s{0,10}["']?([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_IN_HEADER = re.compile(r"""charset\s{0,10}=\s{0,10}["']?([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
# Encodings of pages. Python has others, some of which take much time to decode.
_ENCODINGS = re.compile(
    r"utf-8|utf-16|utf-16-[lb]e|ascii|iso8859-\d+|cp125\d|cp932|cp949|shift_jis|euc_jp|iso2022_jp|gb2312|gbk|gb18030"
    r"|big5|big5hkscs|euc_kr|koi8-[ru]"
)

_TITLES = ("og:title", "twitter:title")
_DESCRIPTIONS = ("og:description", "twitter:description", "description")
_PICTURES = ("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
_NAMES = frozenset({*_TITLES, *_DESCRIPTIONS, *_PICTURES})


class PageUnavailable(Exception):
    """Error for a web page that cannot be read for a link card.

    Its message is the end of a sentence about the page.
    """


@dataclass(frozen=True)
class PageMetadata:
    """The title, description and picture URL that were read from an untrusted web page; missing values are empty.

    `picture` is a URL that is not fetched yet.
    """

    title: str = ""
    description: str = ""
    picture: str = ""


def fetch_page_metadata(link: str) -> PageMetadata:
    """Fetch a web page and read its metadata for a link card. Raises PageUnavailable."""
    address, answer, content = _fetch(
        link, accept="text/html,application/xhtml+xml", seconds=PAGE_SECONDS, max_bytes=MAX_PAGE_BYTES, cut_off=True
    )
    content_type = answer.headers.get("Content-Type", "")
    if content_type.partition(";")[0].strip().lower() not in _HTML:
        raise PageUnavailable(gettext_noop("is not a page"))
    if answer.headers.get("Content-Encoding", "identity").lower() != "identity":  # the request asked for no encoding
        raise PageUnavailable(gettext_noop("answered in a compressed form"))
    head = _parsed(_decoded(content, content_type))
    return PageMetadata(
        title=_line(_first(head.named, _TITLES) or head.title, MAX_TITLE),
        description=_line(_first(head.named, _DESCRIPTIONS), MAX_DESCRIPTION),
        picture=_joined(address, _first(head.named, _PICTURES)),
    )


def fetch_picture_bytes(address: str, *, seconds: float = PICTURE_SECONDS, max_bytes: int = MAX_PICTURE_BYTES) -> bytes:
    """Fetch the bytes of a picture from the web, without checking that they are an image. Raises PageUnavailable."""
    return _fetch(address, accept="image/*", seconds=seconds, max_bytes=max_bytes, cut_off=False)[2]


def _fetch(link: str, *, accept: str, seconds: float, max_bytes: int, cut_off: bool) -> tuple[URL, Response, bytes]:
    """Fetch a web page; return its URL after all redirects, the HTTP response and the body.

    Each redirect is checked like the first URL.
    """
    address = normalize_page_url(link)
    with total_deadline(seconds):
        for _ in range(MAX_REDIRECTS + 1):
            body = io.BytesIO()
            try:
                answer = download(
                    str(address), body, headers={"Accept": accept}, timeout=seconds, max_bytes=max_bytes, cut=cut_off
                )
            except NotSentToForbiddenHost as error:
                raise PageUnavailable(gettext_noop("leads to an address that the service does not connect to")) from error
            except ResponseTooLarge as error:
                raise PageUnavailable(gettext_noop("answered with more than the service reads")) from error
            except OutboundError as error:
                raise PageUnavailable(gettext_noop("did not answer in time")) from error
            if answer.status == 200:
                return address, answer, body.getvalue()
            place = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not place:
                raise PageUnavailable(f"answered {answer.status}")
            address = normalize_page_url(_joined(address, place))
    raise PageUnavailable(f"redirects more than {MAX_REDIRECTS} times")


def normalize_page_url(link: str) -> URL:
    """Return the URL with which a web page is requested: in ASCII, without fragment, and by https unless http is allowed."""
    try:
        address = URL(link).with_fragment(None)
        if address.scheme == "http":
            try:
                check_url_without_lookup(str(address))
            except DestinationNotAllowed:
                address = address.with_scheme("https")
    except (ValueError, UnicodeError) as error:
        raise PageUnavailable(gettext_noop("is not a valid address")) from error
    return address


def _joined(address: URL, place: str) -> str:
    """Return the absolute URL of a relative URL in a web page or redirect; empty if the result is not valid."""
    try:
        return str(address.join(URL(place.strip()))) if place.strip() else ""
    except (ValueError, UnicodeError):
        return ""


def _decoded(content: bytes, content_type: str) -> str:
    """Decode a web page's bytes with the charset of its byte order mark, HTTP header or HTML, or else as UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    own = _CHARSET.search(content[:2048])
    header = _IN_HEADER.search(content_type)
    named = header[1] if header else own[1].decode() if own else "utf-8"
    return content.removeprefix(codecs.BOM_UTF8).decode(_encoding(named), "replace")


def _encoding(name: str) -> str:
    try:
        encoding = codecs.lookup(name).name
    except LookupError:
        return "utf-8"
    if encoding in ("ascii", "iso8859-1"):  # browsers read these as Windows-1252
        return "cp1252"
    return encoding if _ENCODINGS.fullmatch(encoding) else "utf-8"


def _parsed(text: str) -> _Head:
    """Parse the head of a web page piece by piece, and stop where that takes too long or fails."""
    head, deadline = _Head(), time.thread_time() + _PARSER_SECONDS
    for start in range(0, len(text), _PARSED_AT_ONCE):
        if head.is_over or time.thread_time() > deadline:
            break
        try:
            head.feed(text[start : start + _PARSED_AT_ONCE])
        except AssertionError:  # Python's parser raises it for some malformed declarations
            break
    # The parser is never closed: it would read an unfinished construct once more for each of its beginnings.
    return head


class _Head(HTMLParser):
    """HTML parser for the title and the `meta` elements with certain names in a web page's head."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.named: dict[str, str] = {}
        self.title = ""
        self.is_over = False
        self._tags = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tags += 1
        if tag == "body" or self._tags > _MAX_TAGS:
            self.is_over = True
        elif self.is_over:
            return
        elif tag == "title":
            self._in_title = not self.title
        elif tag == "meta":
            self._take(dict(reversed(attrs)))  # the first of several attributes with one name counts

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == "head":
            self.is_over = True

    def handle_data(self, data: str) -> None:
        if self._in_title and len(self.title) < _MAX_RAW_TEXT:
            self.title += data[:_MAX_RAW_TEXT]

    def _take(self, attributes: dict[str, str | None]) -> None:
        content = (attributes.get("content") or "").strip()
        for key in ("property", "name"):
            name = (attributes.get(key) or "").strip().lower()
            if content and name in _NAMES:
                self.named.setdefault(name, content[:_MAX_RAW_TEXT])


def _first(named: dict[str, str], names: tuple[str, ...]) -> str:
    return next((named[name] for name in names if name in named), "")


def _line(text: str, most: int) -> str:
    """Return a web page's title or description as one line of printable text, cut between words."""
    shown = "".join(char if char.isprintable() or char == "\u200d" else " " for char in text[:_MAX_RAW_TEXT])
    return cut_to_limit(" ".join(shown.split()), most, grapheme_length)
