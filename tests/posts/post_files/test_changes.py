"""Files of posts that are there already: export, what a changed file changes, and what stays."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ConnectedAccount
from posts.models import PostGroup, StoredPlan
from tests.conftest import ApiClient
from tests.factories import MediaAssetFactory
from tests.pages import words
from tests.posts.post_files.files import FilePages, csv_of, rows_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, group_with_target, read
from workspaces.models import User, Workspace


@pytest.fixture
def month(api: ApiClient, workspace: Workspace, bakery: ConnectedAccount, shop: ConnectedAccount) -> list[dict[str, Any]]:
    """A scheduled post to two accounts, a draft with a time, and a post that is published at once."""
    asset = MediaAssetFactory(workspace=workspace)
    media = [{"media_id": asset.id, "alt_text": "Bread"}]
    own = body_for(bakery, shop, texts=["Own text"], text="=1+1\r\n“Two”", scheduled_at=TOMORROW, media=media)
    own["targets"][1]["scheduled_at"] = "2027-03-12T08:30:15Z"
    scheduled = api.post("/posts", own).json()["post_group"]
    draft = create(api, shop, text="'=x", draft=True, scheduled_at="2027-10-31T01:30:00Z")
    published = create(api, shop, text="Now")
    run_until_idle()
    return [read(api, each) for each in (scheduled, draft, published)]


@pytest.mark.parametrize("kind", ["csv", "json", "yaml"])
def test_an_export_that_is_imported_again_is_no_difference(
    pages: FilePages, api: ApiClient, month: list[dict[str, Any]], kind: str
) -> None:
    file = pages.export("2027-03-01", "2027-12-31", kind)
    assert f'filename="posts-2027-03-01-2027-12-31.{kind}"' in file["Content-Disposition"]

    difference = pages.compare(file.content, f"a.{kind}")

    assert difference.status_code == 200, words(difference)
    assert "There is no difference." in words(difference)
    assert [read(api, group) for group in month] == month


def test_an_export_shows_the_posts_of_the_days(pages: FilePages, month: list[dict[str, Any]], shop: ConnectedAccount) -> None:
    rows = rows_of(pages.export().content)

    assert [row["post_group_id"] for row in rows] == [month[2]["id"], month[0]["id"]]
    published, scheduled = rows
    assert (published["status"], published["scheduled_at"], published["text"]) == ("published", "", "Now")
    assert (scheduled["scheduled_at"], scheduled["timezone"]) == ("2027-03-11T13:00", "Europe/Berlin")
    assert (scheduled["accounts"], scheduled["media"]) == (
        "bakery.example shop@social.example",
        month[0]["media"][0]["media_id"],
    )
    assert scheduled["text"].startswith("'=1+1")
    assert rows_of(pages.export("2027-03-12", "2027-03-12").content)[0]["post_group_id"] == month[0]["id"]
    [draft] = rows_of(pages.export("2027-10-31", "2027-10-31", account=shop.id).content)
    assert (draft["scheduled_at"], draft["text"]) == ("2027-10-31T02:30+01:00", "''=x")


def test_only_what_was_changed_in_the_file_is_changed(
    pages: FilePages, api: ApiClient, month: list[dict[str, Any]], shop: ConnectedAccount
) -> None:
    before = month[0]
    moved = csv_of({"post_group_id": before["id"], "scheduled_at": "2027-03-13T09:00"})
    difference = pages.compare(moved)
    assert "0 new, 1 changed, 0 unchanged" in words(difference)
    assert "now: 2027-03-11T13:00" in words(difference)

    assert "0 posts created, 1 changed." in pages.apply(difference).content.decode()

    after = read(api, before)
    assert after["targets"][0]["scheduled_at"] == "2027-03-13T08:00:00Z"
    assert (after["text"], after["media"]) == (before["text"], before["media"])
    assert after["targets"][1]["scheduled_at"] == "2027-03-12T08:30:15Z"
    assert after["targets"][0]["text"] == "Own text"
    assert "There is no difference." in words(pages.compare(moved))
    assert read(api, month[1]) == month[1]

    pages.bring_in(csv_of({"post_group_id": before["id"], "text": "New", "accounts": "shop@social.example", "media": ""}))
    last = read(api, before)
    assert (last["text"], last["media"], [each["connected_account_id"] for each in last["targets"]]) == ("New", [], [shop.id])
    assert last["targets"][0]["scheduled_at"] == "2027-03-12T08:30:15Z"


def test_new_and_changed_posts_of_one_file(pages: FilePages, api: ApiClient, month: list[dict[str, Any]]) -> None:
    row = {"accounts": "shop@social.example", "scheduled_at": "2027-03-14T09:00"}

    pages.bring_in(csv_of({"post_group_id": month[0]["id"], "text": "Changed", **row}, {"text": "New", **row}))

    assert read(api, month[0])["text"] == "Changed"
    assert PostGroup.objects.latest("pk").text == "New"


def test_changes_that_are_refused_are_shown_at_their_cells(
    pages: FilePages, api: ApiClient, month: list[dict[str, Any]], stranger: User
) -> None:
    scheduled, _, published = month
    foreign = group_with_target(Workspace.objects.get(owner_user=stranger), datetime(2027, 3, 11, tzinfo=UTC))
    difference = pages.compare(
        csv_of(
            {"post_group_id": published["id"], "text": "Other"},
            {"post_group_id": foreign.id, "text": "x"},
            {"post_group_id": "nonsense", "text": "x"},
            {"post_group_id": scheduled["id"], "text": "x" * 600},
            {"post_group_id": scheduled["id"], "text": "Twice"},
        )
    )

    assert difference.status_code == 422
    shown = words(difference)
    assert "The post can no longer be changed" in shown
    assert shown.count("This workspace has no post with this id.") == 2
    assert shown.count("Two rows describe this post.") == 2
    assert [read(api, group) for group in month] == month
    no_time = words(pages.compare(csv_of({"post_group_id": scheduled["id"], "scheduled_at": ""})))
    assert "A scheduled post needs a time." in no_time
    too_long = words(pages.compare(csv_of({"post_group_id": scheduled["id"], "text": "x" * 600})))
    assert "too long" in too_long


def test_a_post_that_changed_meanwhile_stays_and_the_others_change(
    pages: FilePages, api: ApiClient, bakery: ConnectedAccount
) -> None:
    first, second = (create(api, bakery, text=text, scheduled_at=TOMORROW) for text in ("One", "Two"))
    difference = pages.compare(csv_of(*({"post_group_id": group["id"], "text": "Changed"} for group in (first, second))))
    api.request("PATCH", f"/posts/{first['id']}", {"text": "By somebody else"})

    page = pages.apply(difference).content.decode()

    assert "Row 1 was not changed." in page
    assert [read(api, group)["text"] for group in (first, second)] == ["By somebody else", "Changed"]


def test_a_comparison_replaces_the_plans_of_the_one_before(
    pages: FilePages, api: ApiClient, bakery: ConnectedAccount, workspace: Workspace, teammate: User
) -> None:
    group = create(api, bakery, text="One", scheduled_at=TOMORROW)
    request = {"text": "By a program"}
    by_program = api.post("/plans", {"operation": "posts.update", "post_group_id": group["id"], "request": request}).json()
    new = {"accounts": "bakery.example", "scheduled_at": "2027-03-14T09:00"}
    differences = [
        pages.compare(csv_of({"post_group_id": group["id"], "text": text, **new}, {"text": "New", **new})) for text in "abc"
    ]

    assert StoredPlan.objects.count() == 3
    assert api.get(f"/plans/{by_program['plan']['id']}").json()["plan"]["status"] == "open"
    assert "You have compared another file since." in pages.apply(differences[0]).content.decode()
    assert PostGroup.objects.get().text == "One"
    assert "1 post created, 1 changed." in pages.apply(differences[2]).content.decode()
    assert read(api, group)["text"] == "c"
    pages.compare(csv_of({"post_group_id": group["id"], "text": "d"}))
    assert "This file was applied before." in pages.apply(differences[2]).content.decode()


def test_members_export_and_strangers_do_not(
    pages: FilePages, workspace: Workspace, month: list[dict[str, Any]], teammate: User, stranger: User
) -> None:
    assert len(rows_of(FilePages(workspace, teammate).export().content)) == 2
    assert FilePages(workspace, stranger).export().status_code == 404
    own = FilePages(Workspace.objects.get(owner_user=stranger), stranger)
    assert rows_of(own.export().content) == []
    assert own.export(account=month[0]["targets"][0]["connected_account_id"]).status_code == 404


@pytest.mark.parametrize(
    ("first", "last"), [("2027-03-02", "2027-03-01"), ("2027-01-01", "2028-01-02"), ("x", ""), ("0001-01-01", "0001-01-02")]
)
def test_days_that_are_refused(pages: FilePages, first: str, last: str) -> None:
    assert pages.export(first, last).status_code == 422


def test_an_export_has_a_limited_number_of_posts(
    pages: FilePages, api: ApiClient, month: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posts.post_files.export.MAX_ROWS", 1)

    assert "more than 1 posts" in words(pages.export())


def test_a_comparison_runs_the_same_number_of_queries_for_any_number_of_unchanged_and_new_rows(
    pages: FilePages, api: ApiClient, bakery: ConnectedAccount
) -> None:
    new = {"accounts": "bakery.example", "scheduled_at": "2027-03-14T09:00"}
    counted = []
    for number in (1, 5):
        for each in range(number):
            create(api, bakery, text=f"{number} {each}", scheduled_at=TOMORROW)
        rows = rows_of(pages.export().content) + [{"text": f"New {number} {each}", **new} for each in range(number)]
        with CaptureQueriesContext(connection) as captured:
            assert pages.compare(csv_of(*rows)).status_code == 200
        counted.append(len(captured))
    assert counted[0] == counted[1]
