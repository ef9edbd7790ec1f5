"""Grapheme clusters and composition: the results of `regex` and `unicodedata`, in linear time."""

from __future__ import annotations

import unicodedata

import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.platforms.counting import grapheme_clusters, nfc_normalized
from accounts.platforms.links import any_word_pattern

FLAGS = ["🇩", "🇪"]
MARKS = ["\u0301", "\u0323", "\u0344", "\u0f73", "\u302e", "\u20e3", "\ufe0f", "\u200d", "\u094d", "\U000e0067"]
BASES = ["a", "é", "1", "#", "\r", "\n", "\u0600", "\u0e33", "क", "ष", "각", "\u1112", "\u1161", "\u11ab", "👩", "🏽", "🏴"]
texts = st.text(max_size=60) | st.lists(st.sampled_from([*FLAGS, *FLAGS, *MARKS, *BASES]), max_size=60).map("".join)
mark_runs = st.lists(st.sampled_from(MARKS), min_size=30, max_size=90).map(lambda marks: "a" + "".join(marks) + "b")


@settings(derandomize=True, deadline=None, max_examples=2000)
@given(texts)
def test_clusters_are_those_of_the_regex_module(text: str) -> None:
    assert grapheme_clusters(text) == regex.findall(r"\X", text)


@settings(derandomize=True, deadline=None, max_examples=1000)
@given(texts | mark_runs)
def test_a_text_is_composed_as_unicodedata_does_it(text: str) -> None:
    assert nfc_normalized(text) == unicodedata.normalize("NFC", text)


@settings(derandomize=True, deadline=None, max_examples=500)
@given(st.lists(st.text(alphabet="ab-]^😀é", max_size=4), max_size=8), st.text(alphabet="ab-]^😀é", max_size=12))
def test_a_pattern_of_words_matches_the_longest_word(words: list[str], text: str) -> None:
    expected = max((word for word in words if text.startswith(word)), key=len, default=None)

    found = regex.match(any_word_pattern(words), text) if words else None

    assert (found[0] if found else None) == expected
