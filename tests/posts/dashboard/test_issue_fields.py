"""The composer: from a problem that no button can mend, a button leads to the field that mends it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.dashboard.dashboard import Dashboard, fields, typed, words
from workspaces.models import Workspace


@pytest.fixture
def pinterest(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="pinterest")


@pytest.fixture
def x(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="x")


def ways_on(page: Any) -> dict[str, str]:
    """The buttons that lead to fields: their values by their labels."""
    found = re.findall(r'<button[^>]*value="(field:[^"]+)"[^>]*>([^<]+)<', page.content.decode())
    return {html.unescape(label): html.unescape(way) for way, label in found}


def focused(page: Any) -> list[str]:
    """The ids of the fields that get the focus."""
    tags = re.findall(r"<(?:input|textarea|select)[^>]* autofocus[^>]*>", page.content.decode())
    return [found[1] for tag in tags if (found := re.search(r' id="([^"]+)"', tag))]


def open_tabs(page: Any) -> list[str]:
    return re.findall(r'name="tab" checked value="([^"]*)"', page.content.decode())


def go(dashboard: Dashboard, label: str, *accounts: ConnectedAccount, **content: Any) -> Any:
    """Press the button with this label on the composer's page after a check of the content."""
    checked = dashboard.compose("check", *accounts, **content)
    return dashboard.compose(ways_on(checked)[label], *accounts, **content)


def test_without_text_and_media_one_goes_to_the_text_or_the_file_chooser(dashboard: Dashboard, x: ConnectedAccount) -> None:
    content: dict[str, Any] = {"text": "", "tab": x.id}
    checked = dashboard.compose("check", x, **content)
    assert list(ways_on(checked)) == ["Write the text", "Choose a file"]

    text, file = (go(dashboard, label, x, **content) for label in ("Write the text", "Choose a file"))

    assert (focused(text), open_tabs(text)) == (["text"], [""])
    assert (focused(file), open_tabs(file)) == (["file"], [x.id])


def test_a_different_text_that_is_empty_is_written_in_the_tab_of_its_account(
    dashboard: Dashboard, x: ConnectedAccount, pinterest: ConnectedAccount
) -> None:
    page = go(dashboard, "Write the text", x, pinterest, extra={f"own-{x.id}": "on", f"text-{x.id}": ""})

    assert (focused(page), open_tabs(page)) == ([f"text-{x.id}"], [x.id])
    assert typed(page, "text") == "Hello"


def test_the_question_of_a_poll_is_a_text_and_never_a_file(dashboard: Dashboard, x: ConnectedAccount) -> None:
    poll = {f"{x.id}-poll.choices": "Tea\nCoffee", f"{x.id}-poll.duration_minutes": "60"}
    assert list(ways_on(dashboard.compose("check", x, text="", extra=poll))) == ["Write the text"]


def test_missing_media_are_chosen_from_files(dashboard: Dashboard, pinterest: ConnectedAccount) -> None:
    checked = dashboard.compose("check", pinterest, extra={f"{pinterest.id}-board": "Bread"})
    assert list(ways_on(checked)) == ["Choose a file"]


def test_each_picture_without_alt_text_is_named(dashboard: Dashboard, workspace: Workspace, x: ConnectedAccount) -> None:
    rye, spelt, oats = (
        MediaAssetFactory(workspace=workspace, filename=f"{name}.jpg", alt_text="") for name in ("rye", "spelt", "oats")
    )
    extra = {f"alt-{spelt.id}": "A loaf of spelt"}

    content: dict[str, Any] = {"media": [rye.id, spelt.id, oats.id], "extra": extra}

    page = go(dashboard, "Describe oats.jpg", x, **content)

    assert list(ways_on(page)) == ["Describe rye.jpg", "Describe oats.jpg"]
    assert focused(page) == [f"alt-{oats.id}"]


def test_an_option_that_is_needed_is_filled_in(dashboard: Dashboard, pinterest: ConnectedAccount) -> None:
    page = go(dashboard, "Fill in “Board”", pinterest, extra={f"{pinterest.id}-title": "Rye"})

    assert (focused(page), open_tabs(page)) == ([f"{pinterest.id}-board"], [pinterest.id])
    assert "<details open><summary>Options of Pinterest" in page.content.decode()
    assert fields(page, f"{pinterest.id}-title") == ["Rye"]


def test_a_part_of_a_poll_that_is_needed_is_filled_in(dashboard: Dashboard, x: ConnectedAccount) -> None:
    page = go(dashboard, "Correct “Choices”", x, extra={f"{x.id}-poll.choices": "Tea", f"{x.id}-poll.duration_minutes": "60"})
    assert focused(page) == [f"{x.id}-poll.choices"]

    page = go(dashboard, "Fill in “Open for how many minutes”", x, extra={f"{x.id}-poll.choices": "Tea\nCoffee"})
    assert focused(page) == [f"{x.id}-poll.duration_minutes"]


def test_each_missing_part_of_an_option_has_its_own_way(dashboard: Dashboard, x: ConnectedAccount) -> None:
    checked = dashboard.compose("check", x, extra={f"{x.id}-poll.multiple": "on", f"{x.id}-unshown": '{"poll": {}}'})
    assert list(ways_on(checked)) == ["Fill in “Choices”", "Fill in “Open for how many minutes”"]


def test_an_option_without_a_field_has_no_way(dashboard: Dashboard, x: ConnectedAccount) -> None:
    checked = dashboard.compose("check", x, extra={f"{x.id}-unshown": '{"poll": {"choices": {"a": 1}}, "no_such": 1}'})
    assert "problem" in words(checked)
    assert ways_on(checked) == {}


def test_an_empty_part_of_a_thread_is_written(dashboard: Dashboard, workspace: Workspace) -> None:
    bluesky = AccountFactory(workspace=workspace, platform="bluesky")

    page = go(dashboard, "Write the text", bluesky, extra={f"thread-{bluesky.id}": ["And", ""]})

    assert (focused(page), open_tabs(page)) == ([f"thread-{bluesky.id}-2"], [bluesky.id])
    assert "Remove the part" in words(page)


@pytest.mark.parametrize("name", ["", "acc_unknown:text", ":title", "acc_unknown:thread[9]", "::", "x"])
def test_an_unknown_field_changes_nothing(dashboard: Dashboard, x: ConnectedAccount, name: str) -> None:
    page = dashboard.compose(f"field:{name}", x, text="Rye")
    assert (focused(page), typed(page, "text"), fields(page, "tab")[:1]) == ([], "Rye", [""])
