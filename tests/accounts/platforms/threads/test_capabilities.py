from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.issues import Issue
from accounts.platforms.text_check import TextCheckCache, length_issues
from accounts.platforms.threads.capabilities import CAPABILITIES


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"reply_control": "parent_post_author_only", "topic_tag": "T", "link_attachment": "https://e.com/"}, True),
        ({"reply_control": "nobody"}, False),
        ({"topic_tag": "a.b"}, False),
        ({"topic_tag": "a & b"}, False),
        ({"topic_tag": "a" * 51}, False),
        ({"topic_tag": ""}, False),
        ({"link_attachment": "ftp://e.com/"}, False),
        ({"thread": [{"text": "Two"}] * 24}, True),
        ({"thread": [{"text": "Two"}] * 25}, False),
        ({"quote_post_id": "1"}, False),
    ],
)
def test_options_are_validated_by_their_schema(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


def test_a_text_with_six_different_links_gets_an_issue_and_five_do_not() -> None:
    links = [f"https://example.com/{number}" for number in range(4)] + ["example.org"]

    assert _issues(" ".join([*links, *links])) == []
    [issue] = _issues(" ".join([*links, "www.example.org"]))

    assert (issue.code, issue.severity, issue.message) == (
        "TEXT_TOO_LONG",
        "error",
        "The text counts 6 links; threads takes 5.",
    )
    assert issue.repair_hint is not None
    assert issue.repair_hint.value == " ".join(links) + "…"


def _issues(text: str) -> list[Issue]:
    return length_issues("threads", CAPABILITIES.text, text, "targets[0].text", {}, TextCheckCache())


def test_a_profile_is_not_posted_to_faster_than_threads_allows() -> None:
    pace = CAPABILITIES.pace
    assert pace is not None
    assert pace.burst + 86_400 / pace.seconds <= 250
