"""The dashboard's first page: the workspaces of a person, and a form for another one."""

from __future__ import annotations

from django.test import Client

from tests.people import sign_in_here
from workspaces.models import User, Workspace


def test_the_first_page_leads_on_to_the_only_workspace(owner: User, workspace: Workspace) -> None:
    browser = Client()
    sign_in_here(browser, owner)

    assert browser.get("/dashboard/")["location"] == f"/dashboard/workspaces/{workspace.id}"
    assert workspace.name in browser.get("/dashboard/?all=1").content.decode()


def test_a_user_without_workspaces_creates_one(stranger: User) -> None:
    newcomer = User.objects.create_user(username="newcomer")
    browser = Client(enforce_csrf_checks=True)
    sign_in_here(browser, newcomer)
    page = browser.get("/dashboard/")
    assert "You are not a member of any workspace yet" in page.content.decode()
    form = {"name": "First steps", "default_timezone": "Europe/Oslo"}

    assert browser.post("/dashboard/?all=1", form).status_code == 403
    form["csrfmiddlewaretoken"] = str(page.context["csrf_token"])
    wrong = browser.post("/dashboard/?all=1", {**form, "name": ""})
    made = browser.post("/dashboard/?all=1", form)

    assert (wrong.status_code, made.status_code) == (422, 302)
    workspace = Workspace.objects.get(owner_user=newcomer)
    assert (workspace.name, workspace.default_timezone) == ("First steps", "Europe/Oslo")
    assert made["location"] == f"/dashboard/workspaces/{workspace.id}"
    assert "First steps" in browser.get(made["location"]).content.decode()
