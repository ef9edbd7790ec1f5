"""Regular expressions for long lists of words, such as domains and hashtags."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable


def any_of(words: Iterable[str]) -> str:
    """A regular expression that matches any of `words`; a longer word comes before those it begins with.

    In the pattern words share their beginnings, and alternatives start with different characters, so that matching costs time
    by the length of a word, not by their number.
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
        starts["" if following == {""} else any_of(following)].append(character)
    pattern = "|".join(f"[{''.join(map(re.escape, characters))}]{rest}" for rest, characters in starts.items())
    return f"(?:{pattern})?" if is_word else f"(?:{pattern})"
