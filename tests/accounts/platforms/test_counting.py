"""Counting and cutting text as the platforms do."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twitter_text import extract_urls, parse_tweet
from twitter_text.regexp.emoji import emoji_list

from accounts.platforms.counting import (
    code_point_length,
    cut_to_limit,
    grapheme_length,
    has_url_by_x_rules,
    mastodon_length,
    threads_platform_length,
    utf8_length,
    utf16_length,
    x_weighted_length,
)
from accounts.platforms.instagram.capabilities import count_hashtags, count_mentions
from accounts.platforms.x.capabilities import count_cashtags
from tests.hostile.texts import SHAPES, hostile_text

FAMILY = "👨‍👩‍👧‍👦"
FLAG = "🇩🇪"
COUNTERS = [
    grapheme_length,
    utf8_length,
    utf16_length,
    code_point_length,
    x_weighted_length,
    mastodon_length,
    threads_platform_length,
]
HOST_PIECES = ["a", "b.", ".com", ".co", ".jp", ".рф", ".app", "日", "я", "é", "-", "_", ".", "..", "@", "#", "$", "/"]
URL_PIECES = ["http://", "https://", "t.co/ab", ":80", "?", "=", "(", ")", "!", " ", "\r\n", "xn--a", ".xn--p1ai", "。"]
url_like = st.lists(st.sampled_from(HOST_PIECES + URL_PIECES), max_size=12).map("".join)
emoji_like = st.lists(st.sampled_from([FAMILY, FLAG, "1️⃣", "❤️", "©", "e\u0301", "日", "a", " ", "\u200d"])).map("".join)
postings = st.lists(
    st.sampled_from([*HOST_PIECES, *URL_PIECES, FAMILY, FLAG, "e\u0301", "@user@example.com", "words and ", "\n"])
    | st.text(max_size=5),
    max_size=40,
).map("".join)


@pytest.mark.parametrize(
    ("text", "clusters", "utf8", "utf16", "length"),
    [
        ("", 0, 0, 0, 0),
        ("plain", 5, 5, 5, 5),
        ("日本語", 3, 9, 3, 3),
        ("e\u0301", 1, 3, 2, 2),
        (FAMILY, 1, 25, 11, 7),
        (FLAG * 2, 2, 16, 8, 4),
        ("👍🏽", 1, 8, 4, 2),
        ("1️⃣", 1, 7, 3, 3),
        ("क्षि", 1, 12, 4, 4),
        ("\r\n", 1, 2, 2, 2),
    ],
)
def test_each_unit_is_counted_as_unicode_defines_it(text: str, clusters: int, utf8: int, utf16: int, length: int) -> None:
    assert (grapheme_length(text), utf8_length(text), utf16_length(text), code_point_length(text)) == (
        clusters,
        utf8,
        utf16,
        length,
    )


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("plain", 5),
        ("日本語", 6),
        (FAMILY, 2),
        (FLAG, 2),
        ("e\u0301", 1),
        ("a\r\nb", 3),
        ("example.com", 23),
        ("http://example.com/a/very/long/path?with=query&and=more", 23),
        ("see example.com, ok", 31),
        ("foo_bar.app.example.com", 27),
        ("mail me@ex.com", 14),
        ("日本語です。example.com中国語", 41),
    ],
)
def test_x_weighs_urls_emoji_and_scripts_as_twitter_text_does(text: str, length: int) -> None:
    assert x_weighted_length(text) == length
    assert parse_tweet(text).weightedLength == length


@settings(derandomize=True, deadline=None, max_examples=300)
@given(url_like | emoji_like)
@example("a_b.com.app")
@example("@日b.com")
@example("a.com:80b.com")
@example("http://a.com/日b.com")
def test_x_weighs_every_text_as_twitter_text_does(text: str) -> None:
    assert x_weighted_length(text) == parse_tweet(text).weightedLength
    assert has_url_by_x_rules(text) == bool(extract_urls(unicodedata.normalize("NFC", text)))


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("example.com", True),
        ("https://example.com/path", True),
        ("Go to EXAMPLE.CO.UK!", True),
        ("日本語example.jp", True),
        ("me@example.com", False),
        ("1.5 of 2.0", False),
        ("file.unknowntld", False),
        ("the end.Then more", False),
        ("", False),
    ],
)
def test_x_links_bare_domains_but_not_addresses_or_numbers(text: str, linked: bool) -> None:
    assert has_url_by_x_rules(text) is linked


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("plain", 5),
        (FAMILY, 1),
        ("https://example.com/a/very/long/path/that/goes/on", 23),
        ("http://a.co", 23),
        ("example.com", 11),
        ("hi @alice@example.social!", 10),
        ("@alice and @bob@b.example", 15),
        ("mail me@ex.com", 14),
        ("https://example.social/@bob@b.example", 23),
    ],
)
def test_mastodon_counts_urls_as_23_and_mentions_without_their_domain(text: str, length: int) -> None:
    assert mastodon_length(text) == length


@pytest.mark.parametrize(
    ("text", "length"),
    [("plain", 5), ("日本語", 3), ("é", 1), ("👍", 4), (f"a{FAMILY}b", 27), (FLAG, 8), ("1️⃣", 7), ("1 # 2", 5)],
)
def test_threads_counts_emoji_by_their_bytes(text: str, length: int) -> None:
    assert threads_platform_length(text) == length


@pytest.mark.parametrize(
    ("text", "limit", "count", "result"),
    [
        ("it fits", 7, code_point_length, "it fits"),
        ("one two three", 12, code_point_length, "one two…"),
        ("one two  three", 9, code_point_length, "one two…"),
        ("one two three", 8, code_point_length, "one two…"),
        ("日本語日本語", 4, grapheme_length, "日本語…"),
        ("ab 日本語日本語日本語", 8, grapheme_length, "ab 日本語日…"),
        ("look https://example.com/" + "a" * 50, 20, code_point_length, "look…"),
        (FLAG * 5, 20, utf8_length, FLAG * 2 + "…"),
        (FAMILY * 3, 5, x_weighted_length, FAMILY + "…"),
        ("read example.com now please", 30, x_weighted_length, "read example.com…"),
        ("no space", 2, utf8_length, ""),
        ("no space", 0, code_point_length, ""),
        ("no space", 1, code_point_length, "…"),
    ],
)
def test_a_text_is_cut_between_words_within_the_limit(
    text: str, limit: int, count: Callable[[str], int], result: str
) -> None:
    assert cut_to_limit(text, limit, count) == result


@settings(derandomize=True, deadline=None, max_examples=300)
@given(postings, st.integers(0, 60), st.sampled_from(COUNTERS))
def test_a_cut_text_fits_is_a_beginning_and_splits_no_grapheme_cluster(
    text: str, limit: int, count: Callable[[str], int]
) -> None:
    result = cut_to_limit(text, limit, count)
    assert count(result) <= limit
    if result not in ("", text):
        assert result.endswith("…")
        beginning = result[:-1]
        assert text.startswith(beginning)
        assert len(beginning) in {0, *(cluster.end() for cluster in regex.finditer(r"\X", text))}


def test_every_emoji_weighs_as_twitter_text_says() -> None:
    assert {
        each.emoji for each in emoji_list if x_weighted_length(each.emoji) != parse_tweet(each.emoji).weightedLength
    } == set()


@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_texts_are_counted_and_cut_in_linear_time(shape: str) -> None:
    text = hostile_text(shape)
    began = time.thread_time()
    for count in [*COUNTERS, count_hashtags, count_mentions, count_cashtags]:
        assert count(cut_to_limit(text, 280, count)) <= 280
    assert time.thread_time() - began < 5  # a tenth of it is usual; a quadratic reading takes minutes


@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_texts_weigh_what_twitter_text_says(shape: str) -> None:
    text = hostile_text(shape, 300)
    assert x_weighted_length(text) == parse_tweet(text).weightedLength
