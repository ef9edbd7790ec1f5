"""Tags of posts, such as the name of a campaign: kept in a post's metadata under TAGS_KEY, separated by commas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Concat, Replace
from django.db.models.lookups import IContains

TAGS_KEY = "tags"
MAX_TAGS, MAX_TAG_CHARACTERS = 10, 40


class InvalidTags(ValueError):
    """Error for tags that are too many or too long; the message is for people."""


def distinct_tags_in_text(text: str) -> list[str]:
    """Return the tags in a text, in their order, each once: `Spring, #launch` are `Spring` and `launch`."""
    found: dict[str, str] = {}
    for part in text.split(","):
        tag = " ".join(part.split()).lstrip("#").strip()
        if tag:
            found.setdefault(tag.casefold(), tag)
    return list(found.values())


def tags_of_metadata(metadata: Mapping[str, str]) -> list[str]:
    """Return the tags in a post's metadata, without tags that are too long, which other programs may have written."""
    return [tag for tag in distinct_tags_in_text(metadata.get(TAGS_KEY, "")) if len(tag) <= MAX_TAG_CHARACTERS][:MAX_TAGS]


def metadata_with_tags(metadata: Mapping[str, str], text: str) -> dict[str, str]:
    """Return a post's metadata with its tags replaced by the tags in a text. Raises InvalidTags."""
    tags = distinct_tags_in_text(text)
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARACTERS for tag in tags):
        raise InvalidTags(f"A post can have at most {MAX_TAGS} tags of {MAX_TAG_CHARACTERS} characters.")
    others = {name: value for name, value in metadata.items() if name != TAGS_KEY}
    return others | ({TAGS_KEY: ", ".join(tags)} if tags else {})


def tag_condition(tag: str, *, metadata: str = "metadata") -> IContains:
    """Return the query condition that posts have a tag, ignoring upper and lower case; `metadata` is the path of the field.

    No index serves it: it is for rows that are few by other conditions, or searched a part at a time.
    """
    text = TextField()
    separated = Replace(KeyTextTransform(TAGS_KEY, metadata), Value(", "), Value(","), output_field=text)
    return IContains(Concat(Value(","), separated, Value(","), output_field=text), f",{tag},")


def joined_tags_expression(metadata: str = "metadata") -> Any:
    """Return the query expression for the tags of posts as one text, null without tags; `distinct_tags_in_text` splits it."""
    return KeyTextTransform(TAGS_KEY, metadata)
