"""The settings page: name and time zone, caps, pause, export, deletion."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from auditlog.models import AuditEntry
from tests.conftest import ApiClient
from tests.pages import Pages, form_of, has_form, words
from tests.people import as_user
from workspaces.dashboard.forms import timezone_choices
from workspaces.models import Member, User, Workspace

FORMS = {
    "settings-general": {"name": "Renamed", "default_timezone": "Europe/Berlin"},
    "settings-caps": {"spend_cap": "12.34", "url_post_cap": "7"},
    "settings-pause": {},
    "settings-resume": {},
    "settings-delete": {"deletion-name": "Workshop"},
}
FOR_OWNERS = {"settings-pause", "settings-resume", "settings-delete"}


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner, csrf=True)


@pytest.fixture
def admin(workspace: Workspace, teammate: User) -> Pages:
    Member.objects.filter(user=teammate).update(role="admin")
    return Pages(workspace, teammate)


def send(pages: Pages, form_name: str, **changed: str) -> Any:
    """Submit the page's form with the given changes."""
    form = form_of(pages.get("settings"), pages.address(form_name))
    return pages.post(form_name, {**form, **FORMS[form_name], **changed}, follow=True)


def state(workspace: Workspace) -> tuple[Any, ...]:
    fields = ("name", "default_timezone", "monthly_spend_cap_cents", "monthly_social_url_post_cap", "status")
    return Workspace.objects.values_list(*fields).get(pk=workspace.pk)


def entries() -> list[tuple[str, str | None, dict[str, Any]]]:
    return list(AuditEntry.objects.order_by("pk").values_list("operation", "code", "metadata"))


def test_name_and_time_zone_are_changed_and_the_name_is_not_logged(pages: Pages, workspace: Workspace) -> None:
    page = send(pages, "settings-general", name=" Renamed ")

    assert "Name and time zone are saved." in words(page)
    assert "Renamed" in words(page)
    assert state(workspace)[:2] == ("Renamed", "Europe/Berlin")
    assert entries() == [("workspaces.update", None, {"changed": ["name", "default_timezone"]})]


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("settings-general", {"name": " "}, "This field is required."),
        ("settings-general", {"name": "n" * 201}, "at most 200 characters"),
        ("settings-general", {"default_timezone": "posixrules"}, "Select a valid choice."),
        ("settings-caps", {"spend_cap": "1.234"}, "no more than 2 decimal places"),
        ("settings-caps", {"spend_cap": "-1"}, "greater than or equal to 0"),
        ("settings-caps", {"spend_cap": "92233720368547758.08"}, "less than or equal to"),
        ("settings-caps", {"url_post_cap": "1.5"}, "Enter a whole number."),
        ("settings-delete", {"deletion-name": "workshop"}, "This is not the workspace's name. Nothing was deleted."),
    ],
)
def test_a_mistake_is_shown_at_its_field_with_what_was_typed(
    pages: Pages, workspace: Workspace, name: str, changed: dict[str, str], said: str
) -> None:
    before = state(workspace)
    page = send(pages, name, **changed)

    assert page.status_code == 422
    assert said in words(page)
    assert (
        form_of(page, pages.address(name)).items()
        >= {field: value for field, value in changed.items() if field != "default_timezone"}.items()
    )
    assert state(workspace) == before
    assert entries() == []


def test_caps_are_entered_in_dollars(pages: Pages, workspace: Workspace) -> None:
    send(pages, "settings-caps")

    assert state(workspace)[2:4] == (1234, 7)
    assert form_of(pages.get("settings"), pages.address("settings-caps"))["spend_cap"] == "12.34"
    caps = {"monthly_spend_cap_cents": 1234, "monthly_social_url_post_cap": 7}
    assert entries() == [("workspaces.update_caps", None, caps)]


def test_the_owner_pauses_and_resumes_the_workspace(pages: Pages, workspace: Workspace, owner: User, api: ApiClient) -> None:
    key = {"workspace_id": workspace.id, "name": "k", "scopes": ["posts.read"]}

    stopped = send(pages, "settings-pause")
    assert "Stopped by the owner since" in words(stopped)
    assert api.post("/auth/api-keys", key).json()["code"] == "WORKSPACE_PAUSED"
    assert "This workspace is paused" in words(send(pages, "settings-general"))

    assert "The workspace is active again" in words(send(pages, "settings-resume"))
    assert api.post("/auth/api-keys", key).status_code == 201
    assert state(workspace)[0] == "Workshop"


def test_the_operators_pause_is_shown_and_not_lifted_by_the_owner(
    pages: Pages, workspace: Workspace, operator: ApiClient
) -> None:
    send(pages, "settings-pause")
    operator.post(f"/ops/workspaces/{workspace.id}/pause")

    assert "Only they can lift that." in words(pages.get("settings"))
    assert "The workspace is still paused by the operator of the service." in words(send(pages, "settings-resume"))
    assert state(workspace)[4] == "paused"


def test_the_export_file_equals_the_api_response(pages: Pages, workspace: Workspace, owner: User) -> None:
    answer = pages.get("settings-export")

    assert answer["Content-Disposition"] == f'attachment; filename="workspace-{workspace.id}.json"'
    assert answer["Content-Type"] == "application/json"
    body = as_user(owner).get(f"/workspaces/{workspace.id}/export").json()
    assert json.loads(answer.content).keys() == body.keys()
    assert json.loads(answer.content)["workspace"] == body["workspace"]


def test_a_workspace_is_deleted_when_its_name_is_typed(pages: Pages, workspace: Workspace, api: ApiClient) -> None:
    page = send(pages, "settings-delete")

    assert "Workshop is deleted." in words(page)
    assert "You are not a member of any workspace yet." in words(page)
    assert pages.get("settings").status_code == 404
    assert api.get(f"/agents?workspace_id={workspace.id}").status_code == 401


def test_admins_change_settings_and_only_the_owner_pauses_exports_and_deletes(admin: Pages, workspace: Workspace) -> None:
    page = admin.get("settings")
    offered = {name for name in FORMS if has_form(page, admin.address(name))}
    assert offered == {"settings-general", "settings-caps"}
    assert admin.address("settings-export") not in page.content.decode()
    assert admin.get("settings-export").status_code == 403

    for name, form in FORMS.items():
        admin.post(name, form)
    assert state(workspace) == ("Renamed", "Europe/Berlin", 1234, 7, "active")
    assert {code for operation, code, _ in entries() if code} == {"FORBIDDEN"}


def test_members_can_read_and_strangers_get_404(workspace: Workspace, teammate: User, stranger: User) -> None:
    theirs, strangers = Pages(workspace, teammate), Pages(workspace, stranger)
    before = state(workspace)
    page = theirs.get("settings")

    assert "Workshop" in words(page)
    assert not any(has_form(page, theirs.address(name)) for name in FORMS)
    for name, form in FORMS.items():
        theirs.post(name, form)
        assert strangers.post(name, form).status_code == 404
    assert strangers.get("settings-export").status_code == 404
    assert theirs.get("settings-export").status_code == 403
    assert state(workspace) == before


@pytest.mark.parametrize("name", FORMS)
def test_forms_need_a_csrf_token_and_post(pages: Pages, workspace: Workspace, name: str) -> None:
    before = state(workspace)

    assert pages.post(name, FORMS[name]).status_code == 403
    assert pages.get(name).status_code == 405
    assert state(workspace) == before


def test_all_common_time_zones_are_offered_and_an_unusual_one_stays_selected() -> None:
    chosen = dict(timezone_choices("EST5EDT"))

    assert ("Europe/Berlin", "Berlin") in chosen["Europe"]
    assert ("America/Argentina/Buenos_Aires", "Argentina/Buenos Aires") in chosen["America"]
    assert "UTC" in chosen
    assert "EST5EDT" in chosen
    assert "US" not in chosen


def test_the_page_needs_few_queries_and_stays_small(
    pages: Pages, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(8):
        page = pages.get("settings")
    assert len(page.content) < 52_000
