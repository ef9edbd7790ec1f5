from __future__ import annotations

import pytest

from accounts.platforms.bluesky.richtext import facets_of_spans, find_links_mentions_and_tags

BOB = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"


def found(text: str) -> list[tuple[str, str, str]]:
    """The clickable parts of a Bluesky text, each with its kind and value."""
    return [(text[span.start : span.end], span.kind, span.value) for span in find_links_mentions_and_tags(text)]


def test_offsets_of_a_link_and_a_mention_are_bytes_of_utf8() -> None:
    text = "Hi @bob.bsky.social — voilà https://ex.com/é"

    made = facets_of_spans(text, find_links_mentions_and_tags(text), {"bob.bsky.social": BOB})

    assert made == [
        {"index": {"byteStart": 3, "byteEnd": 19}, "features": [{"$type": "app.bsky.richtext.facet#mention", "did": BOB}]},
        {
            "index": {"byteStart": 31, "byteEnd": 48},
            "features": [{"$type": "app.bsky.richtext.facet#link", "uri": "https://ex.com/é"}],
        },
    ]


def test_a_facet_of_a_tag_spans_its_hash_sign_and_names_the_tag_without_it() -> None:
    text = "👩‍👩‍👧 ＃日本語!"

    assert facets_of_spans(text, find_links_mentions_and_tags(text), {}) == [
        {"index": {"byteStart": 19, "byteEnd": 31}, "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": "日本語"}]}
    ]


def test_a_mention_without_an_account_stays_plain_text() -> None:
    text = "@nobody.test and #tag"

    assert [facet["features"][0]["$type"] for facet in facets_of_spans(text, find_links_mentions_and_tags(text), {})] == [
        "app.bsky.richtext.facet#tag"
    ]


@pytest.mark.parametrize(
    ("text", "shown", "uri"),
    [
        ("https://ex.com", "https://ex.com", "https://ex.com"),
        ("http://ex.com/a?b=c#d", "http://ex.com/a?b=c#d", "http://ex.com/a?b=c#d"),
        ("HTTPS://EX.COM", "HTTPS://EX.COM", "HTTPS://EX.COM"),
        ("see https://ex.com/a.", "https://ex.com/a", "https://ex.com/a"),
        ("see https://ex.com/a!", "https://ex.com/a", "https://ex.com/a"),
        ("(see https://ex.com/a).", "https://ex.com/a", "https://ex.com/a"),
        ("(https://ex.com/a_(b))", "https://ex.com/a_(b)", "https://ex.com/a_(b)"),
        ("https://en.wikipedia.org/wiki/A_(b)", "https://en.wikipedia.org/wiki/A_(b)", None),
        ("https://bücher.example/é", "https://bücher.example/é", None),
        ("a\nex.com\nb", "ex.com", "https://ex.com"),
        ("Ex.com", "Ex.com", "https://Ex.com"),
        ("my-site.co.uk/a", "my-site.co.uk/a", "https://my-site.co.uk/a"),
        ("ex.com:8080/a", "ex.com:8080/a", "https://ex.com:8080/a"),
        ("ex.com?", "ex.com", "https://ex.com"),
        ("ex.com, then", "ex.com", "https://ex.com"),
        ("httpstatus.io", "httpstatus.io", "https://httpstatus.io"),
        ("bsky.appを見て", "bsky.app", "https://bsky.app"),
    ],
)
def test_links_are_found_with_and_without_a_scheme(text: str, shown: str, uri: str | None) -> None:
    assert found(text) == [(shown, "link", uri or shown)]


@pytest.mark.parametrize(
    "text",
    [
        "no.such-tld-here",
        "e.g. this",
        "first.Second",
        "the end.So it goes",
        "1.5",
        "me.name@ex.com",
        "user@ex.com",
        "array.map(fn)",
        "ex.com.みんな",
        "https://",
        "https://...",
        "ftp://ex.org",
        "éex.com",
        '"https://ex.com"',
    ],
)
def test_what_only_looks_like_a_link_is_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "shown", "handle"),
    [
        ("@bob.bsky.social", "@bob.bsky.social", "bob.bsky.social"),
        ("(@bob.bsky.social)", "@bob.bsky.social", "bob.bsky.social"),
        ("@Bob.Test", None, None),
        ("@Bob.test's", "@Bob.test", "bob.test"),
        ("hello @bob.test.", "@bob.test", "bob.test"),
        ("hello @bob.test-", "@bob.test", "bob.test"),
        ("@bob.bsky.socialさん", "@bob.bsky.social", "bob.bsky.social"),
        ("@bob", None, None),
        ("@bob.nosuchtld", None, None),
        ("@bob..com", None, None),
        ("@-bob.com", None, None),
        ("@bob.co.x_y", None, None),
        ("a@bob.com", None, None),
    ],
)
def test_a_mention_is_an_at_sign_and_a_domain(text: str, shown: str | None, handle: str | None) -> None:
    assert found(text) == ([(shown, "mention", handle)] if shown else [])


@pytest.mark.parametrize(
    ("text", "shown", "tag"),
    [
        ("#tag", "#tag", "tag"),
        ("a #tag!?", "#tag", "tag"),
        ("#a,b", "#a,b", "a,b"),
        ("#1st", "#1st", "1st"),
        ("#日本語、", "#日本語", "日本語"),
        ("＃tag", "＃tag", "tag"),
        ("#👍", "#👍", "👍"),
        (f"#{'x' * 64}", f"#{'x' * 64}", "x" * 64),
        ("$AAPL", "$AAPL", "$AAPL"),
        ("($aapl),", "$aapl", "$AAPL"),
    ],
)
def test_hash_tags_and_tickers_are_tags(text: str, shown: str, tag: str) -> None:
    assert found(text) == [(shown, "tag", tag)]


@pytest.mark.parametrize(
    "text",
    [
        "#",
        "# tag",
        "#1",
        "#2026!",
        "#!?",
        "a#tag",
        "(#tag)",
        "#\ufe0f\u20e3",
        f"#{'x' * 65}",
        "#" + ("e" + "\u0301" * 10) * 31,
        "$100",
        "$TOOLONG",
        "US$AAPL",
    ],
)
def test_what_only_looks_like_a_tag_is_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("https://ex.com/($AAPL)", ["link"]),
        ("https://ex.com/(@bob.test)", ["link"]),
        ("#tag(@bob.test)", ["mention"]),
        ("#tag @bob.test ex.com $AB", ["tag", "mention", "link", "tag"]),
    ],
)
def test_clickable_parts_never_overlap_and_are_in_order(text: str, kinds: list[str]) -> None:
    assert [span.kind for span in find_links_mentions_and_tags(text)] == kinds
