"""Texts that are expensive to process: each is a repeated piece.

`hostile_text` gives a shape in the length that a caller may send.
"""

from __future__ import annotations

LENGTH = 100_000  # the longest text that the API accepts


def _different(letters: range, count: int, start: int) -> str:
    """Return a word of different letters, another one for each `start`."""
    return "".join(chr(letters[(start + 97 * number * (1 + start % 7)) % len(letters)]) for number in range(count))


# A shape is (what stands once at the beginning, what is repeated, what stands once at the end).
SHAPES: dict[str, tuple[str, str, str]] = {
    "one word": ("", "a", ""),
    "one word, then an angle bracket": ("", "a", "<"),
    "dotted letters": ("", "a.", ""),
    "dotted letters, two at a time": ("", "a.b.", ""),
    "dots": ("", ".", ""),
    "words": ("", "Grüße aus der Werkstatt, ", ""),
    "URLs": ("", "https://example.com/a?b=c#d ", ""),
    "URLs without spaces": ("", "http://example.com", ""),
    "one long host": ("http://x.com", ".a", ""),
    "a host of country domains": ("", "a.de.", ""),
    "one long path": ("https://example.com/", "a.", "!"),
    "one long query": ("https://example.com/?", "!", ""),
    "bracketed paths": ("", "a.co/(", ""),
    "path of open brackets": ("a.co/", "(", ""),
    "path of dotted brackets": ("a.co/", "(a(b)", ""),
    "path of at signs": ("a.co/", "@a", ""),
    "short domains": ("", "t.co ", ""),
    "short domains with a path": ("", "t.co/a ", ""),
    "domains after underscores": ("", "a_b.com.", ""),
    "hyphens before a domain": ("", "a-", "a.com"),
    "underscores before a domain": ("", "a_", "a.com"),
    "IDN domains": ("", "ü.de ", ""),
    "IDN domains without spaces": ("", "ü.de", ""),
    "IDN domains that differ": ("", "".join(f"ü{number:x}.de " for number in range(12_500)), ""),
    "long IDN domains that differ": ("", "".join(f"é{number}{'ö' * 40}.de " for number in range(2_100)), ""),
    "Chinese domains that differ": (
        "",
        "".join(f"http://{_different(range(0x4E00, 0x9FA5), 14, number)}.jp " for number in range(4_000)),
        "",
    ),
    "labels of different letters": (
        "",
        "".join(f"{_different(range(0x100, 0x17F), 50, number)}.jp " for number in range(1_900)),
        "",
    ),
    "Cyrillic domains": ("", "я.рф ", ""),
    "punycode": ("", "a.xn--", ""),
    "punycode labels": ("", "xn--a.xn--p1ai ", ""),
    "Japanese with a domain at the end": ("", "日本語", ".com"),
    "Japanese domains": ("", "日本.jp", ""),
    "schemes": ("", "http://", ""),
    "scheme separators": ("", "://", ""),
    "slashes": ("", "/", ""),
    "ports": ("", "a.com:1", ""),
    "e-mail addresses": ("", "a@b.com ", ""),
    "at signs": ("", "@", ""),
    "mentions": ("", "@user ", ""),
    "mentions without spaces": ("", "@a", ""),
    "remote mentions": ("", "@user@example.social ", ""),
    "mention of a long name": ("@", "a.", ""),
    "mention of underscores": ("@", "_-", ""),
    "hashtags": ("", "#tag ", ""),
    "hashtags without spaces": ("", "#a", ""),
    "hash signs": ("", "#", ""),
    "hashtag of digits": ("#", "1", ""),
    "hashtag of underscores": ("", "#_", ""),
    "hashtag of punctuation": ("#", "!a", ""),
    "cashtags": ("", "$ABC ", ""),
    "emoji": ("", "😀", ""),
    "emoji families": ("", "👨‍👩‍👧‍👦", ""),
    "emoji joined without end": ("", "👩‍", ""),
    "emoji with skin tones": ("", "👍🏽", ""),
    "flags": ("", "🇩🇪", ""),
    "flag of tags": ("🏴", "\U000e0067", ""),
    "keycaps": ("", "1️⃣", ""),
    "combining marks": ("a", "\u0301", ""),
    "combining marks out of order": ("a", "\u0301\u0323", ""),
    "letters with marks": ("", "e\u0301", ""),
    "Hangul letters": ("", "\u1112\u1161\u11ab", ""),
    "Indic conjuncts": ("", "क्षि", ""),
    "Chinese": ("", "中文字", ""),
    "astral letters": ("", "𝔘", ""),
    "line feeds": ("", "\n", ""),
    "carriage returns": ("", "\r", ""),
    "line ends": ("", "\r\n", ""),
    "spaces": ("", " ", ""),
    "spaces before a word": ("", " ", "a"),
    "words on lines": ("", "a\n", ""),
    "right to left": ("", "שלום hello ", ""),
    "direction marks": ("", "\u202e\u202c", ""),
    "zero-width spaces": ("", "\u200b", ""),
    "zero-width joiners": ("", "\u200d", ""),
    "letters joined by zero width": ("", "a\u200d", ""),
    "variation selectors": ("", "\ufe0f", ""),
    "open brackets": ("", "(", ""),
    "angle brackets": ("", "<", ""),
    "mention markup": ("", "@[", ""),
    "mention markup with a name": ("", "@[a](urn:li:person:", ""),
    "backslashes": ("", "\\", ""),
    "quotes": ("", '"', ""),
}


def hostile_text(shape: str, length: int = LENGTH) -> str:
    """Return the hostile text of this name with `length` characters."""
    begin, piece, end = SHAPES[shape]
    repeated = piece * (length // len(piece) + 1)
    return begin + repeated[: length - len(begin) - len(end)] + end
