"""The length of a domain in IDNA, which is that of Python's codec."""

from __future__ import annotations

from encodings.idna import nameprep

from hypothesis import example, given, settings
from hypothesis import strategies as st

from accounts.platforms.links import UNCHANGED_BY_NAMEPREP, idna_length_or_zero, punycode_length_of_label

PLAIN = [character for character in map(chr, range(0x110000)) if UNCHANGED_BY_NAMEPREP.fullmatch(character)]
plain = st.text(st.sampled_from(PLAIN), min_size=1, max_size=70)
labels = st.one_of(
    plain,
    st.text(st.sampled_from("abü日\u00ad\u200dßİ\u0301אⅧ\ue000\u0660-"), min_size=1, max_size=70),
    st.text(min_size=1, max_size=30).map(lambda text: text.replace(".", "")).filter(bool),
)


def codec_length(domain: str) -> int:
    try:
        return len(domain.encode("idna"))
    except UnicodeError:
        return 0


@settings(derandomize=True, deadline=None, max_examples=1000)
@given(st.lists(labels, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "com"])))
@example("日" * 59 + ".com")
@example("日" * 60 + ".com")
@example("a" * 63 + ".com")
@example("a" * 64 + ".com")
@example("xn--ü.com")
@example("日\u3002本.com")
@example("日\u3002\u3002本.com")
@example("日" + "\u00ad" * 100 + ".com")
def test_the_length_of_a_domain_is_that_of_pythons_codec(domain: str) -> None:
    assert idna_length_or_zero(domain) == codec_length(domain)


@settings(derandomize=True, deadline=None, max_examples=500)
@given(st.text(min_size=1, max_size=60))
def test_the_length_of_punycode_is_that_of_pythons_codec(text: str) -> None:
    assert punycode_length_of_label(text) == len(text.encode("punycode"))


@settings(derandomize=True, deadline=None, max_examples=300)
@given(plain)
@example("".join(PLAIN))
def test_nameprep_does_not_change_these_letters(text: str) -> None:
    assert nameprep(text) == text
    assert all(nameprep(character) == character for character in text)
