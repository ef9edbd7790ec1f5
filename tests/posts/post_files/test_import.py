"""Import of files in the dashboard: what a file makes, what is refused, and that nothing is made twice."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from posts.models import ImportedRow, PostGroup, StoredPlan
from tests.factories import AccountFactory, MediaAssetFactory
from tests.pages import words
from tests.posts.post_files.files import FilePages, csv_of
from workspaces.models import Member, User, Workspace

ROW = {"text": "Fresh bread", "accounts": "bakery.example", "scheduled_at": "2027-03-11T09:00"}
OF_NEW_YORK = {**ROW, "text": "Still fresh", "timezone": "America/New_York"}


def texts() -> list[str]:
    return list(PostGroup.objects.order_by("pk").values_list("text", flat=True))


def test_a_file_is_shown_with_its_price_and_then_made_as_one_plan(
    pages: FilePages, workspace: Workspace, bakery: ConnectedAccount, shop: ConnectedAccount
) -> None:
    ConnectedAccount.objects.update(sandbox=False)
    asset = MediaAssetFactory(workspace=workspace)
    both = {**ROW, "text": "Two\nlines, “quoted”", "accounts": f"@bakery.example {shop.id}", "media": asset.id}
    difference = pages.compare(csv_of(ROW, OF_NEW_YORK, both))

    assert "3 new, 0 changed, 0 unchanged" in words(difference)
    assert "cost $0.04 together" in words(difference)
    assert not PostGroup.objects.exists()
    done = pages.apply(difference)

    assert "3 posts created, 0 changed." in done.content.decode()
    first, second, third = PostGroup.objects.order_by("pk")
    assert (first.status, first.scheduled_at) == ("scheduled", datetime(2027, 3, 11, 8, tzinfo=UTC))
    assert second.scheduled_at == datetime(2027, 3, 11, 14, tzinfo=UTC)
    assert (third.text, third.media) == (both["text"], [{"media_id": asset.id}])
    assert sorted(third.targets.values_list("account_id", flat=True)) == sorted([bakery.id, shop.id])
    plan = StoredPlan.objects.get()
    assert (plan.operation, plan.result_ids) == ("posts.create_batch", [first.id, second.id, third.id])
    assert AuditEntry.objects.filter(operation="posts.create_batch").exists()


def test_the_same_file_makes_no_second_posts_and_equal_rows_stay_two(pages: FilePages, bakery: ConnectedAccount) -> None:
    file = csv_of(ROW, {**ROW, "scheduled_at": "2027-03-15T09:00"}, {**ROW, "scheduled_at": "2027-03-15T09:00"})
    difference = pages.compare(file)
    pages.apply(difference)
    assert texts() == ["Fresh bread"] * 3

    again = pages.apply(difference)
    assert "applied before" in again.content.decode()
    compared_again = pages.compare(file)
    assert "There is no difference." in words(compared_again)
    assert words(compared_again).count("Imported before") == 3
    assert not pages.can_apply(compared_again)
    assert len(texts()) == ImportedRow.objects.count() == 3


def test_a_file_compared_by_two_people_before_it_is_applied_is_made_once(
    pages: FilePages, workspace: Workspace, teammate: User, bakery: ConnectedAccount
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    colleague = FilePages(workspace, teammate)
    first, second = pages.compare(csv_of(ROW)), colleague.compare(csv_of(ROW))
    pages.apply(first)

    refused = colleague.apply(second)

    assert "imported meanwhile" in refused.content.decode()
    assert texts() == ["Fresh bread"]
    assert StoredPlan.objects.filter(committed_at=None).count() == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps([{**ROW, "accounts": ["bakery.example"], "media": None}])),
        ("a.json", json.dumps({"posts": [ROW]})),
        ("a.yaml", "posts:\n- text: Fresh bread\n  accounts: [bakery.example]\n  scheduled_at: 2027-03-11T09:00\n"),
        ("a.YML", "- {text: Fresh bread, accounts: bakery.example, scheduled_at: '2027-03-11 09:00:00+01:00'}"),
        ("a.csv", "\ufefftext;accounts;scheduled_at\r\nFresh bread;bakery.example;2027-03-11T08:00Z\r\n;;\r\n"),
        ("a.csv", "text\taccounts\tscheduled_at\nFresh bread\tBAKERY.example\t2027-03-11T09:00"),
    ],
)
def test_formats(pages: FilePages, bakery: ConnectedAccount, name: str, content: str) -> None:
    pages.bring_in(content, name)

    group = PostGroup.objects.get()
    assert (group.text, group.scheduled_at) == ("Fresh bread", datetime(2027, 3, 11, 8, tzinfo=UTC))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", "text\nx", "whose name ends with"),
        ("a.csv", "", "must name the columns"),
        ("a.csv", "text,accounts\n", "no rows"),
        ("a.csv", "text,colour\nx,red", "column “colour”"),
        ("a.csv", "text,text\nx,y", "a column twice"),
        ("a.csv", "text\nx,y", "more cells"),
        ("a.csv", 'text\n"x', "not correct CSV"),
        ("a.csv", b"text\n\xff", "UTF-8"),
        ("a.csv", "text\nx\0", "not text"),
        ("a.csv", "text\n" + "x\n" * 501, "at most 500"),
        ("a.csv", "text\n" + "x" * 1_000_000, "too large"),
        ("a.json", "{", "not correct JSON"),
        ("a.json", "[" * 100_000, "not correct JSON"),
        ("a.json", '{"text": "x"}', "list of posts"),
        ("a.json", "[1]", "Row 1 is not a post"),
        ("a.json", '[{"text": 1}]', "text must be text"),
        ("a.json", '[{"text": "\\ud800"}]', "not text"),
        ("a.yaml", "a: [", "not correct YAML"),
        ("a.yaml", "a: &a [x]\nposts: *a", "aliases"),
        ("a.yaml", "[[[[[[[[1]]]]]]]]", "nested"),
        ("a.yaml", "- !!python/object/apply:os.system ['x']", "tags"),
        ("a.yaml", "- text: !!timestamp x", "tags"),
        ("a.yaml", "[" * 400_000, "nested"),
    ],
)
def test_files_that_cannot_be_read(pages: FilePages, name: str, content: str | bytes, sentence: str) -> None:
    answer = pages.compare(content, name)

    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not StoredPlan.objects.exists()


def test_each_problem_is_shown_at_its_cell_and_nothing_is_made(
    pages: FilePages, workspace: Workspace, bakery: ConnectedAccount
) -> None:
    for platform in ("x", "mastodon"):
        AccountFactory(workspace=workspace, platform=platform, handle="twin")
    difference = pages.compare(
        csv_of(
            ROW,
            {**ROW, "accounts": "nobody twin bakery.example bakery.example", "media": "med_x"},
            {**ROW, "text": "x" * 301, "scheduled_at": "2027-03-28T02:30", "timezone": "Nowhere"},
            {**ROW, "scheduled_at": "2027-03-28T02:30"},
            {**ROW, "scheduled_at": "11.3.2027"},
            {**ROW, "scheduled_at": "2026-03-11T09:00"},
            {**ROW, "text": "y" * 301},
            {**ROW, "scheduled_at": ""},
            {**ROW, "accounts": ""},
            {**ROW, "media": "med_01k3qv5yf8e2mb7w9x4t6zc0hd"},
        )
    )

    assert difference.status_code == 422
    shown = words(difference)
    for sentence in (
        "There is no account nobody in this workspace.",
        "Several accounts are called twin.",
        "The account bakery.example is named twice.",
        "med_x is no id of a file",
        "Nowhere is not a time zone",
        "The clocks skip this time on that day.",
        "Write the time as 2027-01-31T09:00.",
        "This time has passed.",
        "1 character too long",
        "Give the post a time",
        "Name at least one account.",
        "deleted from the library",
    ):
        assert sentence in shown, sentence
    assert not pages.can_apply(difference)
    assert not PostGroup.objects.exists()
    assert not StoredPlan.objects.exists()


def test_drafts_need_no_time(pages: FilePages, bakery: ConnectedAccount) -> None:
    pages.bring_in(csv_of({"text": "x" * 400, "accounts": "bakery.example", "status": "draft"}))

    assert PostGroup.objects.get().status == "draft"


def test_at_most_a_hundred_posts_are_made_at_a_time(pages: FilePages, bakery: ConnectedAccount) -> None:
    rows = [{**ROW, "text": f"Number {number}"} for number in range(101)]

    refused = pages.compare(csv_of(*rows))
    assert "101 posts would be created; at most 100" in words(refused)
    pages.bring_in(csv_of(*rows[:100]))

    assert PostGroup.objects.count() == 100


def test_spend_caps_hold(pages: FilePages, workspace: Workspace, bakery: ConnectedAccount) -> None:
    ConnectedAccount.objects.update(sandbox=False)
    Workspace.objects.filter(pk=workspace.pk).update(monthly_spend_cap_cents=0, free_monthly_credit_cents=1)

    refused = pages.compare(csv_of(ROW, {**ROW, "text": "More"}))

    assert refused.status_code == 422
    assert "monthly spend cap" in words(refused)
    assert not pages.can_apply(refused)


def test_a_plan_that_no_longer_fits_makes_nothing(pages: FilePages, bakery: ConnectedAccount) -> None:
    difference = pages.compare(csv_of(ROW))
    ConnectedAccount.objects.update(sandbox=False)

    pages.apply(difference)

    assert not PostGroup.objects.exists()
    assert not ImportedRow.objects.exists()


def test_the_plans_of_a_form_expire_and_cannot_be_forged(pages: FilePages, clock: Any, bakery: ConnectedAccount) -> None:
    difference = pages.compare(csv_of(ROW))
    clock.shift(3601)

    assert "too long ago" in pages.apply(difference).content.decode()
    assert "too long ago" in pages.post("post-files-apply", {"plans": "x"}, follow=True).content.decode()
    assert not PostGroup.objects.exists()


def test_members_and_strangers_import_nothing(
    pages: FilePages, workspace: Workspace, bakery: ConnectedAccount, teammate: User, stranger: User
) -> None:
    difference = pages.compare(csv_of(ROW))
    member, other = FilePages(workspace, teammate), FilePages(workspace, stranger)
    own = FilePages(Workspace.objects.get(owner_user=stranger), stranger)

    assert "Owners and admins import files." in words(member.get("post-files"))
    assert member.compare(csv_of(ROW)).status_code == 303
    member.apply(difference)
    assert {other.get("post-files").status_code, other.compare(csv_of(ROW)).status_code} == {404}
    assert "There is no account bakery.example" in words(own.compare(csv_of(ROW)))
    own.post("post-files-apply", {"plans": str(difference.context["plans"])})
    assert not PostGroup.objects.exists()
    assert Workspace.objects.get(pk=workspace.pk).post_groups.count() == 0


def test_a_paused_workspace_imports_nothing(pages: FilePages, workspace: Workspace, bakery: ConnectedAccount) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")

    assert pages.compare(csv_of(ROW)).status_code == 303
    assert not StoredPlan.objects.exists()
