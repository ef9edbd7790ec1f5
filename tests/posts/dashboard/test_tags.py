"""Tags of posts: set in the composer, shown in the list and in the calendar, and a filter of both."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.posts.dashboard.dashboard import Dashboard, fields, the_group, words
from tests.posts.rows import TOMORROW, create


def texts_found(dashboard: Dashboard, **query: str) -> dict[str, set[str]]:
    """The numbers of the posts that the list and a view of the calendar show."""
    pages = {"list": dashboard.get("posts", **query), "calendar": dashboard.get("calendar", view="list", **query)}
    return {name: {text for text in ("One", "Two", "Three") if text in words(page)} for name, page in pages.items()}


def test_the_composer_sets_and_changes_tags(dashboard: Dashboard, account: ConnectedAccount) -> None:
    dashboard.compose("schedule", account, when="2027-03-11T12:00", tags=" Spring  sale,#launch, spring sale ,,")
    assert the_group().metadata == {"tags": "Spring sale, launch"}
    PostGroup.objects.update(metadata={"tags": "Spring sale, launch", "own": "kept"})
    for name in ("posts", "calendar"):
        assert "Spring sale" in words(dashboard.get(name))
    page = dashboard.get("post-edit", the_group())
    assert fields(page, "tags") == ["Spring sale, launch"]

    dashboard.compose("schedule", account, group=the_group(), when="2027-03-11T12:00", content_version="1", tags="autumn")

    assert the_group().metadata == {"tags": "autumn", "own": "kept"}
    form: Any = {"when": "2027-03-11T12:00", "content_version": "2"}
    dashboard.compose("schedule", account, group=the_group(), key="k2", **form)
    assert the_group().metadata == {"tags": "autumn", "own": "kept"}, "A form without the field changes no tags."


@pytest.mark.parametrize("tags", ["x" * 41, ",".join(map(str, range(11)))])
def test_too_many_and_too_long_tags_are_refused(dashboard: Dashboard, account: ConnectedAccount, tags: str) -> None:
    page = dashboard.compose("save", account, tags=tags)
    assert page.status_code == 422
    assert "A post can have at most 10 tags of 40 characters." in words(page)
    assert not PostGroup.objects.exists()
    assert fields(page, "tags") == [tags]


def test_posts_are_filtered_by_tag(dashboard: Dashboard, api: ApiClient, account: ConnectedAccount) -> None:
    for text, tags in (("One", "launch, 100% Spring"), ("Two", "Launch,relaunch"), ("Three", "launch party")):
        create(api, account, text=text, scheduled_at=TOMORROW, metadata={"tags": tags, "other": "x"})
    create(api, account, text="Four", scheduled_at=TOMORROW, metadata={"other": "launch"})

    for tag, found in {
        "launch": {"One", "Two"},
        "LAUNCH": {"One", "Two"},
        "relaunch": {"Two"},
        "100% spring": {"One"},
        "% spring": set(),
        "launch party": {"Three"},
        "": {"One", "Two", "Three"},
    }.items():
        assert texts_found(dashboard, tag=tag) == {"list": found, "calendar": found}, tag
    assert texts_found(dashboard, tag="launch", q="one")["list"] == {"One"}
    assert "tag=launch" in dashboard.get("posts", status="scheduled").content.decode()


def test_tags_of_programs_that_do_not_fit_are_left_as_they_are(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount
) -> None:
    group: Any = create(api, account, scheduled_at=TOMORROW, metadata={"tags": f"{'x' * 300},short<b>"})
    assert fields(dashboard.get("post-edit", group), "tags") == ["short<b>"]
    assert "short&lt;b&gt;" in dashboard.get("calendar").content.decode()
    form: Any = {"when": "2027-03-11T13:00", "content_version": "1", "tags": "short<b>"}
    dashboard.compose("schedule", account, group=group, **form)
    assert the_group().metadata == {"tags": f"{'x' * 300},short<b>"}
    assert dashboard.post("post-duplicate", group, key="k").status_code == 303
    assert PostGroup.objects.get(status="draft").metadata == {"tags": "short<b>"}
