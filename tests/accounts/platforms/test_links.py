"""Finding URLs in a text, exactly where twitter-text finds them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twitter_text import extract_urls_with_indices

from accounts.platforms.links import link_spans

HOSTS = ["a", "b.", ".com", ".co", ".uk", ".jp", ".рф", ".app", "com", "x" * 63 + ".", "x" * 64 + ".", "1", "0."]
LETTERS = ["日", "я", "é", "ü", "ß", "א", "公司", "嘉里", "嘉里大酒店", ".भारतम्", "भारत", "K", "ſ", "İ", "ı", "\u212a"]
SIGNS = ["-", "_", ".", "..", "@", "#", "$", "/", "!", "?", "=", "(", ")", ":", ",", "~", "%", "&", "+", "。", "＃", "＠"]
URLS = ["http://", "https://", "HTTP://", "httpſ://", "t.co/ab", "t.co/", "a" * 41, ":80", "/a(b)", "/(a", "xn--a", ".xn--a-"]
UNSEEN = [" ", "\r\n", "\u200e", "\u061c", "\ufeff", "\u00ad", "\u0301", "\u200d", "😀"]
PIECES = [*HOSTS, *LETTERS, *SIGNS, *URLS, *UNSEEN]
url_like = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
# From few pieces, which are then repeated: hosts of many labels.
repetitive = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).flatmap(
    lambda few: st.lists(st.sampled_from(few), max_size=14).map("".join)
)


def extracted(text: str) -> list[tuple[int, int]]:
    """The spans that twitter-text's extractor finds."""
    return [(found["indices"][0], found["indices"][0] + len(found["url"])) for found in extract_urls_with_indices(text)]


def repeated(pieces: Callable[[int], str], count: int) -> str:
    return "".join(pieces(number) for number in range(count))


@settings(derandomize=True, deadline=None, max_examples=2000)
@given(url_like | repetitive | st.text(max_size=40))
@example("a_b.com.app")
@example("_b.com日_b.com日_b.com/x,y.de")
@example("a.com日http://b.com")
@example("a.xn--http://b.com")
@example("日b.com")
@example("@日b.com")
@example("яa.co/яa.co")
@example("日.com.de b.рф.com/a")
@example("a.com:80b.com")
@example("http://t.co/" + "a" * 41 + " http://t.co/ab/c")
@example("http://日本。jp http://日。。jp")
def test_links_are_where_twitter_text_extracts_urls(text: str) -> None:
    assert list(link_spans(text)) == extracted(text)


@pytest.mark.parametrize(
    "text",
    [
        "example.com/" + "a" * 4076,  # 4,096 characters with a protocol
        "example.com/" + "a" * 4077,
        "http://example.com/" + "a" * 4070,
        "http://example.com/" + "a" * 4071,
        "http://" + "日" * 14 + ".jp",
        "http://" + "日" * 59 + ".jp",
        "http://" + "日" * 60 + ".jp",
        "http://" + repeated(lambda number: chr(0x4E00 + 97 * number), 20) + ".jp",
        "http://" + repeated(lambda number: chr(0x4E00 + 97 * number), 30) + ".jp",
        "http://a" + "\u0301\u0323" * 100 + ".jp",
        "http://" + "日\u00ad" * 40 + ".jp",
        "http://אa.jp http://אב.jp http://א1.jp http://aא.jp",
        "http://xn--ü.jp http://\ue000.jp http://ﬁ.jp http://Ⅷü.jp",
        repeated(lambda number: f"ü{number}.de ", 50),
        repeated(lambda number: chr(0x100 + number), 60) + ".de",
    ],
    ids=lambda text: text[:20],
)
def test_long_urls_and_international_domains_are_found_as_by_twitter_text(text: str) -> None:
    assert list(link_spans(text)) == extracted(text)
