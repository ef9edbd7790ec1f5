"""Access to a workspace's dashboard pages, and how errors are shown."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from config.pages.navigation import all_dashboard_pages
from tests.factories import WorkspaceFactory
from tests.people import sign_in_here
from workspaces.models import User, Workspace

HOME = "/dashboard/workspaces/{}"
every_page = pytest.mark.parametrize("name", [entry.route for entry in all_dashboard_pages() if entry.label])


def browser_of(user: User) -> Client:
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, user)
    return browser


@every_page
def test_members_can_read_every_page_and_others_get_404(
    workspace: Workspace, owner: User, teammate: User, stranger: User, name: str
) -> None:
    address = reverse(name, kwargs={"workspace_id": workspace.id})
    for member in (owner, teammate):
        answer = browser_of(member).get(address)
        assert answer.status_code == 200
        in_menu = name != "compose" or member == owner  # viewers do not write
        assert (f'href="{address}" aria-current="page"' in answer.content.decode()) is in_menu
    foreign = browser_of(stranger).get(address)
    absent = browser_of(stranger).get(address.replace(workspace.id, "wrk_01h455vb4pex5vsknk084sn02q"))
    assert foreign.status_code == absent.status_code == 404
    assert "Page not found" in foreign.content.decode()
    assert workspace.name not in foreign.content.decode()
    signed_out = Client().get(address)
    assert (signed_out.status_code, signed_out["location"]) == (302, f"/dashboard/sign-in?next={address}")


@every_page
def test_pages_are_not_cached_and_forms_need_a_csrf_token(workspace: Workspace, owner: User, name: str) -> None:
    address = reverse(name, kwargs={"workspace_id": workspace.id})
    browser = browser_of(owner)
    assert "no-store" in browser.get(address)["cache-control"]
    assert browser.post(address, {"name": "Taken over"}).status_code in (403, 405)
    workspace.refresh_from_db()
    assert workspace.name == "Workshop"


def test_pages_of_a_deleted_workspace_are_not_found(workspace: Workspace, owner: User) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")
    assert browser_of(owner).get(HOME.format(workspace.id)).status_code == 404


def test_the_switcher_lists_the_members_other_workspaces_only(workspace: Workspace, owner: User, stranger: User) -> None:
    WorkspaceFactory(name="Bakery", owner_user=owner)
    WorkspaceFactory(name="Foreign", owner_user=stranger)
    WorkspaceFactory(name="Deleted", owner_user=owner, status="deleted")

    page = browser_of(owner).get(HOME.format(workspace.id)).content.decode()

    switcher = page.partition('id="workspaces"')[2].partition("</div>")[0]
    assert re.findall(r"</span>(\w+)</a>", switcher) == ["Bakery"]


def test_pages_are_compressed(workspace: Workspace, owner: User) -> None:
    answer = browser_of(owner).get(HOME.format(workspace.id), headers={"Accept-Encoding": "gzip"})

    assert answer["content-encoding"] == "gzip"
    assert len(answer.content) < 20_000


def test_an_expired_csrf_token_shows_an_explanation(workspace: Workspace, owner: User) -> None:
    answer = browser_of(owner).post("/dashboard/sign-out")
    assert answer.status_code == 403
    assert "submit the form again" in answer.content.decode()


def test_an_unknown_url_gives_an_html_page_in_the_dashboard_and_json_elsewhere(owner: User) -> None:
    page, api = browser_of(owner).get("/dashboard/nowhere"), Client().get("/nowhere")
    assert (page.status_code, page["content-type"]) == (404, "text/html; charset=utf-8")
    assert (api.status_code, api.json()["code"]) == (404, "NOT_FOUND")
