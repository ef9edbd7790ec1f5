"""Reading the metadata of web pages, also of hostile ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.counting import grapheme_length
from accounts.platforms.web_pages import PageMetadata, PageUnavailable, fetch_page_metadata, normalize_page_url
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph


@pytest.fixture
def web(settings: Settings) -> Iterator[WebPages]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with WebPages() as server:
        yield server


def read(web: WebPages, head: str | bytes, content_type: str = "text/html; charset=utf-8") -> PageMetadata:
    content = head if isinstance(head, bytes) else f"<!doctype html><html><head>{head}</head>".encode()
    return fetch_page_metadata(web.put("/a/page", html(content, content_type)))


def test_open_graph_comes_before_twitters_card_and_that_before_the_pages_own(web: WebPages) -> None:
    own = "<title>Own</title><meta name=description content='Own words'>"
    twitter = (
        "<meta name=twitter:title content=Twitter><meta name=twitter:description content='Its words'>"
        "<meta name=twitter:image content=/t.png>"
    )
    graph = (
        "<meta property=og:title content=Graph><meta property=og:description content='Graph words'>"
        "<meta property=og:image content=g.png><meta property=og:image:secure_url content=https://cdn.example/s.png>"
    )

    assert read(web, own) == PageMetadata("Own", "Own words", "")
    assert read(web, own + twitter) == PageMetadata("Twitter", "Its words", f"{web.url}/t.png")
    assert read(web, own + twitter + graph) == PageMetadata("Graph", "Graph words", "https://cdn.example/s.png")


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<TITLE>Big</TITLE>", "Big"),
        ("<title>Fish &amp; chips &#x1F35F;</title>", "Fish & chips 🍟"),
        ("<title>\n  Two\n  lines\t</title>", "Two lines"),
        ("<title>One</title><title>Two</title>", "One"),
        ("<title></title><title>Second</title>", "Second"),
        ('<META PROPERTY="OG:TITLE" CONTENT="Capitals">', "Capitals"),
        ('<meta property="og:title" content="  ">  <title>Own</title>', "Own"),
        ('<meta property="og:title" content="First"><meta property="og:title" content="Second">', "First"),
        ('<meta name="og:title" content="By name">', "By name"),
        ("<script>document.write('<title>Script</title>')</script><title>Own</title>", "Own"),
        ("<!-- <title>Comment</title> --><title>Own</title>", "Own"),
        ("<title>A <b>bold</b> one</title>", "A <b>bold</b> one"),
        ("<title>\u202eright to left\x00</title>", "right to left \ufffd"),
        ("<title>Family 👩\u200d👩\u200d👧</title>", "Family 👩\u200d👩\u200d👧"),
        ("</head><body><svg><title>Icon</title></svg>", ""),
        ("<title>Never ended", "Never ended"),
        ("<title>Before</title>" + "<![foo[ x ]]>" * 2, "Before"),
        ("", ""),
    ],
)
def test_a_title_is_one_line_of_text(web: WebPages, head: str, title: str) -> None:
    found = read(web, head).title

    assert found in (title, title.replace(" \ufffd", "").replace("<b>bold</b>", "bold"))
    assert found.isprintable() or "\u200d" in found


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        ("<title>Grüße</title>".encode(), "text/html"),
        ("<title>Grüße</title>".encode(), "text/html; charset=nonsense"),
        ("<title>Grüße</title>".encode(), "text/html; charset=punycode"),
        ("<title>Grüße</title>".encode("iso-8859-1"), "text/html; charset=ISO-8859-1"),
        (b'<meta charset="windows-1252">' + "<title>Grüße</title>".encode("cp1252"), "text/html"),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=latin1">' + "<title>Grüße</title>".encode("cp1252"),
            "text/html",
        ),
        ("\ufeff<title>Grüße</title>".encode(), "text/html"),
        ("\ufeff<title>Grüße</title>".encode("utf-16-le"), "text/html; charset=utf-8"),
    ],
)
def test_a_page_is_read_in_its_own_encoding(web: WebPages, content: bytes, content_type: str) -> None:
    assert read(web, content, content_type).title == "Grüße"


def test_long_words_of_a_page_are_cut(web: WebPages) -> None:
    page = read(web, open_graph("word " * 2000, "x" * 100_000))

    assert (grapheme_length(page.title) <= 300, page.title[-1]) == (True, "…")
    assert grapheme_length(page.description) == 1000


@pytest.mark.parametrize("unit", ["<", "<a ", '<a b="', "<!--", "<meta property=og:title content=", "<script>"])
def test_no_page_takes_longer_than_the_time_limit(web: WebPages, unit: str) -> None:
    """Reading again from each beginning of an unfinished element would take minutes."""
    link = web.put("/page", html((unit * 500_000)[:500_000].encode()))

    assert fetch_page_metadata(link).picture in ("", f"{web.url}/")


@pytest.mark.parametrize("link", ["http://[", "https://exa mple/", "mailto:a@example.com", "https://user:pw@example.com/"])
def test_an_address_that_is_not_a_page_is_refused(web: WebPages, link: str) -> None:
    with pytest.raises(PageUnavailable):
        fetch_page_metadata(link)


def test_a_public_page_is_requested_by_https_instead_of_http(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True

    assert str(normalize_page_url("http://example.com/é#top")) == "https://example.com/%C3%A9"
    assert str(normalize_page_url("http://bücher.example/")) == "https://xn--bcher-kva.example/"
    assert str(normalize_page_url("http://127.0.0.1:8000/a")) == "http://127.0.0.1:8000/a"


def test_an_answer_of_another_status_is_not_read(web: WebPages) -> None:
    with pytest.raises(PageUnavailable, match="answered 403"):
        fetch_page_metadata(web.put("/page", Answer(403, open_graph("Forbidden"), {"Content-Type": "text/html"})))
