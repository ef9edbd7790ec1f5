"""The composer: the further posts of a thread, which buttons add, remove, move and split."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.posts.dashboard.dashboard import Dashboard, the_group, typed, words

LONG = "Fresh bread every day. " * 30  # Bluesky takes 300 graphemes


def segments(page: Any, account: ConnectedAccount) -> list[str]:
    """The texts of the thread's further posts in the composer."""
    found = re.findall(
        rf'<textarea[^>]*name="thread-{account.id}"[^>]*>\n?(.*?)</textarea>', page.content.decode(), re.DOTALL
    )
    return [html.unescape(text) for text in found]


def press(dashboard: Dashboard, account: ConnectedAccount, button: str, *texts: str, **form: Any) -> Any:
    change, _, place = button.partition(":")
    action = f"thread:{change}:{account.id}" + (f":{place}" if place else "")
    return dashboard.compose(action, account, extra={f"thread-{account.id}": list(texts)}, **form)


@pytest.mark.parametrize(
    ("button", "after"),
    [
        ("add", ["b", "c", "d", ""]),
        ("remove:1", ["b", "d"]),
        ("up:2", ["b", "d", "c"]),
        ("down:0", ["c", "b", "d"]),
        ("up:0", ["b", "c", "d"]),
        ("down:2", ["b", "c", "d"]),
        ("remove:9", ["b", "c", "d"]),
        ("remove:x", ["b", "c", "d"]),
        ("number", ["b", "c", "d"]),
        ("nonsense", ["b", "c", "d"]),
    ],
)
def test_buttons_change_the_parts(dashboard: Dashboard, account: ConnectedAccount, button: str, after: list[str]) -> None:
    page = press(dashboard, account, button, "b", "c", "d")

    assert segments(page, account) == after
    assert f'name="tab" checked value="{account.id}"' in page.content.decode()


def test_a_long_text_is_split_at_the_limit(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = press(dashboard, account, "split", text=LONG)

    parts = [typed(page, f"text-{account.id}"), *segments(page, account)]
    assert len(parts) == 3
    assert all(len(part) <= 300 for part in parts)
    assert " ".join(part.strip() for part in parts) == LONG.strip()
    assert typed(page, "text") == LONG
    assert "Valid for this account." in words(page)


def test_a_text_that_fits_is_not_split(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = press(dashboard, account, "split", "And more")

    assert segments(page, account) == ["And more"]
    assert f'data-own="text-{account.id}" checked' not in page.content.decode()


def test_the_parts_are_saved_and_edited(dashboard: Dashboard, account: ConnectedAccount) -> None:
    extra = {f"thread-{account.id}": ["Second\r\nline", "Third"]}
    dashboard.compose("save", account, extra=extra)

    group = the_group()
    assert group.targets.get().options == {"thread": [{"text": "Second\nline"}, {"text": "Third"}]}
    assert segments(dashboard.get("post-edit", group), account) == ["Second\nline", "Third"]


def test_the_tab_counts_the_part_that_is_nearest_to_its_limit(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = dashboard.compose("check", account, text="Short", extra={f"thread-{account.id}": ["x" * 290]})

    assert "10 characters left" in words(page)
    assert "290 of 300 characters" in words(page)


def test_buttons_change_only_chosen_accounts(dashboard: Dashboard, accounts: list[ConnectedAccount]) -> None:
    bluesky, mastodon, _ = accounts

    page = dashboard.compose(f"thread:add:{mastodon.id}", bluesky)

    assert segments(page, mastodon) == []


@pytest.mark.parametrize(
    ("button", "focused"),
    [
        ("add", "textarea 4"),
        ("remove:1", "textarea 2"),
        ("remove:2", "textarea 2"),
        ("up:2", "button up 1"),
        ("up:1", "button down 0"),
        ("down:0", "button down 1"),
        ("down:1", "button up 2"),
        ("split", "button split"),
    ],
)
def test_the_focus_stays_with_the_part_that_was_changed(
    dashboard: Dashboard, account: ConnectedAccount, button: str, focused: str
) -> None:
    page = press(dashboard, account, button, "b", "c", "d", live=True)

    [tag] = re.findall(r"<[^>]* autofocus[^>]*>", page.content.decode().partition('id="targets"')[2])
    kind, *rest = focused.split()
    assert tag.startswith(f"<{kind}")
    if kind == "textarea":
        assert f'id="thread-{account.id}-{rest[0]}"' in tag
    else:
        assert f'value="thread:{rest[0]}:{account.id}{"".join(f":{place}" for place in rest[1:])}"' in tag


def test_without_parts_the_focus_is_on_the_button_that_adds_one(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = press(dashboard, account, "remove:0", "b", live=True)

    [tag] = re.findall(r"<[^>]* autofocus[^>]*>", page.content.decode().partition('id="targets"')[2])
    assert f'value="thread:add:{account.id}"' in tag


def test_numbering_the_parts_again_moves_no_focus(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = press(dashboard, account, "number", "b", "c", live=True)

    assert " autofocus" not in page.content.decode().partition('id="targets"')[2]
