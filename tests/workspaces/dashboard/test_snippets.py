"""The snippets page: adding, changing and deleting hashtags and signatures of a workspace."""

from __future__ import annotations

import pytest

from auditlog.models import AuditEntry
from tests.factories import UserFactory, WorkspaceFactory
from tests.pages import Pages, has_form, words
from workspaces import services
from workspaces.models import Member, Snippet, User, Workspace

BREAD = {"name": "Bread", "kind": "hashtags", "text": "#bread #rye"}


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


@pytest.fixture
def snippet(workspace: Workspace) -> Snippet:
    return Snippet.objects.create(workspace=workspace, **BREAD)


def stored() -> list[tuple[str, str, str]]:
    return list(Snippet.objects.order_by("name").values_list("name", "kind", "text"))


def test_a_snippet_is_added_changed_and_deleted(pages: Pages) -> None:
    assert "There are no snippets yet." in words(pages.get("snippets"))
    added = pages.post("snippets", {**BREAD, "text": "#bread\r\n#rye"}, follow=True)
    assert "The snippet is saved." in words(added)
    assert stored() == [("Bread", "hashtags", "#bread\n#rye")]

    pk = str(Snippet.objects.get().pk)
    changed = pages.post(
        "snippet", {"name": "The bakery", "kind": "signature", "text": "— Harbour Bakery"}, follow=True, snippet_id=pk
    )
    assert "The bakery Signature — Harbour Bakery" in words(changed)
    assert stored() == [("The bakery", "signature", "— Harbour Bakery")]

    pages.post("snippet-delete", snippet_id=pk)
    assert stored() == []
    operations = AuditEntry.objects.filter(operation__startswith="snippets.").order_by("created_at", "pk")
    assert list(operations.values_list("operation", flat=True)) == ["snippets.create", "snippets.update", "snippets.delete"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": " "}, "This field is required."),
        ({"text": ""}, "This field is required."),
        ({"text": "x" * 2001}, "at most 2000 characters"),
        ({"kind": "poem"}, "not one of the available choices"),
        ({"name": "Bread"}, "Another snippet has this name."),
    ],
)
def test_a_snippet_with_errors_is_not_saved(pages: Pages, snippet: Snippet, changes: dict[str, str], problem: str) -> None:
    refused = pages.post("snippets", {"name": "Rolls", "kind": "hashtags", "text": "#rolls", **changes})

    assert refused.status_code == 422
    assert problem in words(refused)
    assert stored() == [tuple(BREAD.values())]


def test_a_name_that_is_taken_is_refused_in_german(pages: Pages, snippet: Snippet, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(language="de")

    assert "Ein anderer Textbaustein hat diesen Namen." in words(pages.post("snippets", BREAD))


def test_a_name_cannot_be_changed_to_that_of_another_snippet(pages: Pages, snippet: Snippet) -> None:
    other = Snippet.objects.create(workspace=pages.workspace, name="Rolls", kind="hashtags", text="#rolls")

    refused = pages.post("snippet", BREAD, snippet_id=str(other.pk))

    assert "Another snippet has this name." in words(refused)
    other.refresh_from_db()
    assert other.name == "Rolls"


def test_a_workspace_has_a_limited_number_of_snippets(pages: Pages) -> None:
    Snippet.objects.bulk_create(
        Snippet(workspace=pages.workspace, name=f"No. {number}", kind="hashtags", text="#x")
        for number in range(services.MAX_SNIPPETS)
    )

    refused = pages.post("snippets", BREAD)

    assert "already has 100 snippets" in words(refused)
    assert Snippet.objects.count() == 100


def test_a_member_without_the_right_to_write_reads_only(workspace: Workspace, teammate: User, snippet: Snippet) -> None:
    member = Pages(workspace, teammate)
    page = member.get("snippets")
    assert "#bread #rye" in words(page)
    assert not has_form(page, member.address("snippets"))

    given, pk = {"name": "Mine", "kind": "hashtags", "text": "#mine"}, str(snippet.pk)
    member.post("snippets", given)
    member.post("snippet", given, snippet_id=pk)
    member.post("snippet-delete", snippet_id=pk)
    assert stored() == [tuple(BREAD.values())]
    assert AuditEntry.objects.filter(outcome="refused").count() == 3


def test_an_editor_adds_and_deletes_snippets(workspace: Workspace, teammate: User, snippet: Snippet) -> None:
    Member.objects.filter(workspace=workspace, user=teammate).update(role="editor")
    editor = Pages(workspace, teammate)

    editor.post("snippets", {"name": "Rolls", "kind": "hashtags", "text": "#rolls"})
    editor.post("snippet-delete", snippet_id=str(snippet.pk))

    assert stored() == [("Rolls", "hashtags", "#rolls")]


def test_snippets_of_another_workspace_do_not_exist(pages: Pages, snippet: Snippet) -> None:
    stranger = UserFactory()
    elsewhere = Pages(WorkspaceFactory(owner_user=stranger), stranger)

    assert "#bread" not in words(elsewhere.get("snippets"))
    elsewhere.post("snippet", {**BREAD, "text": "#mine"}, snippet_id=str(snippet.pk))
    elsewhere.post("snippet-delete", snippet_id=str(snippet.pk))
    assert Pages(pages.workspace, stranger).get("snippets").status_code == 404
    assert stored() == [tuple(BREAD.values())]
