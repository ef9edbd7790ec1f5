"""The stored form of the progress of a publication: rows that earlier versions have written must be understood, too."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.platforms.types import Progress, Published

POST = Published("42", "https://example.com/42")
REF = {"uri": "at://did:plc:a/app.bsky.feed.post/1", "cid": "b"}


@pytest.mark.parametrize(
    ("stored", "progress"),
    [
        ({}, Progress("send")),
        ({"since": "now", "media": ["1"]}, Progress("send", {"since": "now", "media": ["1"]})),
        ({"key": "k", "sent": ["1", "2"]}, Progress("send", {"key": "k"}, segments=("1", "2"))),
        ({"sent": [REF]}, Progress("send", segments=(REF,))),
        ({"looks": 1, "taken": True}, Progress("send", {"looks": 1}, accepted=True)),
        ({"out": {"external_id": "42", "permalink": POST.permalink}}, Progress("send", published=POST)),
        (
            {"a": 1, "sent": ["1"], "taken": True, "out": {"external_id": "42", "permalink": ""}},
            Progress("send", {"a": 1}, None, ("1",), True, Published("42", "")),
        ),
    ],
)
def test_the_stored_form_can_be_read_back(stored: dict[str, Any], progress: Progress) -> None:
    assert Progress.from_stored("send", stored) == progress
    assert json.loads(json.dumps(progress.to_stored())) == {"sent": [], **stored}
    assert Progress.from_stored("send", json.loads(json.dumps(progress.to_stored()))) == progress


def test_an_empty_list_of_segments_is_stored_too_because_earlier_versions_read_it() -> None:
    progress = Progress.from_stored("create", {"since": "now", "sent": []})

    assert progress == Progress("create", {"since": "now"})
    assert progress.to_stored() == {"since": "now", "sent": []}


def test_reading_does_not_change_the_row() -> None:
    row = {"looks": 1, "sent": ["1"], "taken": True}

    Progress.from_stored("poll", row)

    assert row == {"looks": 1, "sent": ["1"], "taken": True}


def test_a_note_is_not_stored() -> None:
    progress = Progress("poll", published=Published("42", "", note="Without an address"))

    assert progress.to_stored() == {"sent": [], "out": {"external_id": "42", "permalink": ""}}


def test_the_next_step_keeps_what_is_known_of_the_post_but_not_the_pause() -> None:
    before = Progress("poll", {"a": 1}, datetime(2026, 1, 1, tzinfo=UTC), ("1",), True, POST)

    assert before.with_next_step("comment", {"b": 2}) == Progress("comment", {"b": 2}, None, ("1",), True, POST)
