"""The composer: options that are lists or objects, such as polls, are saved and shown again without loss."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, typed, words
from tests.posts.rows import body_for
from workspaces.models import Workspace

POLLED = ["mastodon", "telegram", "discord", "x"]
POLL = {"choices": ["The bench", "The lathe"], "duration_minutes": 60}


@pytest.fixture(params=POLLED)
def account(request: Any, workspace: Workspace) -> ConnectedAccount:
    return AccountFactory.create(workspace=workspace, platform=request.param)


def poll_of(account: ConnectedAccount, choices: str = "The bench\r\n\r\n  The lathe ", minutes: str = "60") -> Any:
    """The form fields of a poll, as a browser sends them."""
    return {f"{account.id}-poll.choices": choices, f"{account.id}-poll.duration_minutes": minutes}


def options_of(account: ConnectedAccount) -> dict[str, Any]:
    return dict(the_group().targets.get(account=account).options)


def labelled(page: Any) -> dict[str, str]:
    """The label of each form field, by the field's id."""
    found = re.findall(r'<label for="([^"]+)">(.*?)</label>', page.content.decode(), re.DOTALL)
    return {name: html.unescape(re.sub(r"<[^>]+>", "", label)).strip() for name, label in found}


def test_a_poll_is_written_with_a_line_for_each_choice(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = dashboard.compose("check", account, text="What next?", extra=poll_of(account))
    assert "With a poll of 2 choices, open for 1 hour" in words(page)
    assert '<ul class="choices" aria-label="Choices of the poll"><li>The bench</li>' in page.content.decode()
    assert "Valid for this account." in words(page)

    dashboard.compose("save", account, text="What next?", extra=poll_of(account))

    assert options_of(account) == {"poll": POLL}
    assert "Poll Choices: The bench, The lathe; Open for how many minutes: 60" in words(dashboard.get("post", the_group()))


def test_a_saved_poll_is_shown_in_the_form(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    body = body_for(account, text="What next?", draft=True)
    body["targets"][0]["options"] = {"poll": POLL}
    assert api.post("/posts", body).status_code == 201

    page = dashboard.get("post-edit", the_group())

    assert typed(page, f"{account.id}-poll.choices") == "The bench\nThe lathe"
    assert fields(page, f"{account.id}-poll.duration_minutes") == ["60"]
    assert fields(page, f"{account.id}-unshown") == []
    assert "left unchanged" not in words(page)


def test_each_option_field_has_a_label(dashboard: Dashboard, account: ConnectedAccount) -> None:
    page = dashboard.compose("check", account)
    sent, labels = page.content.decode(), labelled(page)
    assert "<legend>Poll" in sent
    assert labels[f"{account.id}-poll.choices"].startswith("Choices")
    assert labels[f"{account.id}-poll.duration_minutes"].startswith("Open for how many minutes")
    described = re.search(rf'<textarea name="{account.id}-poll.choices"[^>]*aria-describedby="([^"]+)"', sent)
    assert described
    assert f'id="{described[1]}">What can be voted for: ' in sent
    for group in re.findall(r'<fieldset class="field parts" aria-describedby="([^"]+)"', sent):
        assert f'id="{group}"' in sent


def test_empty_poll_fields_create_no_poll(dashboard: Dashboard, account: ConnectedAccount) -> None:
    dashboard.compose("save", account, extra=poll_of(account, choices=" \r\n", minutes=""))

    assert options_of(account) == {}


def test_invalid_options_are_reported_and_shown_as_entered(dashboard: Dashboard, workspace: Workspace) -> None:
    x = AccountFactory(workspace=workspace, platform="x")
    page = dashboard.compose("publish", x, text="What next?", extra=poll_of(x, choices="The bench", minutes="soon"))
    assert page.status_code == 422
    assert "The poll has 1 choice; X needs 2 to 4 choices." in words(page)
    assert "In the options of X: “Open for how many minutes” is not filled in correctly." in words(page)
    assert typed(page, f"{x.id}-poll.choices") == "The bench"
    assert fields(page, f"{x.id}-poll.duration_minutes") == ["soon"]


def test_a_button_shortens_a_choice_that_is_too_long(dashboard: Dashboard, workspace: Workspace) -> None:
    x = AccountFactory(workspace=workspace, platform="x")
    sent = poll_of(x, choices="Tea\nEverything that is in the cupboard")
    page = dashboard.compose("check", x, text="What next?", extra=sent)
    [repair] = re.findall(r'value="(repair:[^"]+)"', page.content.decode())
    assert repair == "repair:targets[0].options.poll.choices[1]|POLL_CHOICE_TOO_LONG"

    page = dashboard.compose(repair, x, text="What next?", extra=sent)

    assert typed(page, f"{x.id}-poll.choices") == "Tea\nEverything that is in…"
    assert "Valid for this account." in words(page)


def test_boolean_options_and_a_poll_without_an_end_are_saved(dashboard: Dashboard, workspace: Workspace) -> None:
    telegram = AccountFactory(workspace=workspace, platform="telegram")
    extra = poll_of(telegram, minutes="") | {f"{telegram.id}-poll.multiple": "true", f"{telegram.id}-poll.anonymous": "false"}
    assert "open without an end" in words(dashboard.compose("check", telegram, extra=extra))

    dashboard.compose("save", telegram, extra=extra)

    poll = {"choices": ["The bench", "The lathe"], "multiple": True, "anonymous": False}
    assert options_of(telegram) == {"poll": poll}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mastodon", {"poll": {"choices": ["One\nof two lines", "b"], "duration_minutes": 60}}),
        ("mastodon", {"thread": [{"words": "More"}]}),
        ("youtube", {"tags": ["a\nb"]}),
    ],
)
def test_options_without_fields_are_preserved(
    dashboard: Dashboard, workspace: Workspace, name: str, options: dict[str, Any]
) -> None:
    account = AccountFactory.create(workspace=workspace, platform=name)
    dashboard.compose("save", account)
    the_group().targets.update(options=options)
    page = dashboard.get("post-edit", the_group())
    assert f"Not shown here and left unchanged: {next(iter(options))}." in words(page)

    [hidden] = fields(page, f"{account.id}-unshown")
    version = fields(page, "content_version")[0]
    dashboard.compose("save", account, group=the_group(), extra={f"{account.id}-unshown": hidden}, content_version=version)

    assert options_of(account) == options


@pytest.mark.parametrize(
    ("name", "sent", "options"),
    [
        ("youtube", {"tags": "bread\nfresh rolls"}, {"tags": ["bread", "fresh rolls"]}),
        ("bluesky", {"langs": "en\nde-CH"}, {"langs": ["en", "de-CH"]}),
        (
            "linkedin",
            {"article.url": "https://example.com/a", "article.title": "A bench"},
            {"article": {"url": "https://example.com/a", "title": "A bench"}},
        ),
    ],
)
def test_other_lists_and_objects_have_fields_too(
    dashboard: Dashboard, workspace: Workspace, name: str, sent: dict[str, str], options: dict[str, Any]
) -> None:
    account = AccountFactory.create(workspace=workspace, platform=name)

    page = dashboard.compose("check", account, extra={f"{account.id}-{field}": value for field, value in sent.items()})

    assert f'name="{account.id}-{next(iter(sent))}"' in page.content.decode()
    dashboard.compose("save", account, extra={f"{account.id}-{field}": value for field, value in sent.items()})
    assert options_of(account) == options
