"""The dashboard page of the workspace's snippets: create, change and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.api.errors import ApiError
from workspaces import selectors, services
from workspaces.models import Snippet
from workspaces.workspace_page import WorkspacePage, add_api_error_to_form, record_refused_write, workspace_page


class SnippetForm(forms.ModelForm):
    """The form of one snippet on the dashboard's page of snippets."""

    marks_needed = True

    class Meta:
        model = Snippet
        fields = ("name", "kind", "text")
        widgets = {"text": forms.Textarea({"rows": 3, "class": "short"})}
        labels = {"name": _("Name"), "kind": _("Kind"), "text": _("Text")}
        help_texts = {"name": _("As the list beside the text shows it.")}

    def __init__(self, data: Any = None, *, snippet: Snippet | None = None) -> None:
        super().__init__(data, instance=snippet or Snippet(kind=Snippet.Kind.HASHTAGS), auto_id=f"{_key(snippet)}-%s")

    def clean_text(self) -> str:
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")


@workspace_page("GET", "POST", operation="snippets.create")
def list_or_create_snippets(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: list the workspace's snippets with a form for each, and create one on POST."""
    if page.request.method != "POST":
        return _show(page)
    return _save(page, None, "snippets.create", gettext("The snippet is saved."))


@workspace_page("POST", operation="snippets.update")
def change_snippet(page: WorkspacePage, snippet_id: int) -> HttpResponse:
    """Dashboard page: change a snippet of the workspace."""
    snippet = selectors.get_snippet(workspace_id=page.workspace.id, snippet_id=snippet_id)
    return _save(page, snippet, "snippets.update", gettext("The snippet is changed."))


@workspace_page("POST", operation="snippets.delete")
def delete_snippet(page: WorkspacePage, snippet_id: int) -> HttpResponse:
    """Dashboard page: delete a snippet of the workspace."""
    services.delete_snippet(caller=page.caller, workspace_id=page.workspace.id, snippet_id=snippet_id)
    return page.success_redirect(gettext("The snippet is deleted."), "snippets")


def _save(page: WorkspacePage, snippet: Snippet | None, operation: str, done: str) -> HttpResponse:
    form, snippet_id = SnippetForm(page.request.POST, snippet=snippet), snippet.pk if snippet else None
    if not form.is_valid():
        return _show(page, [form], status=422)
    try:
        services.save_snippet(caller=page.caller, workspace_id=page.workspace.id, snippet_id=snippet_id, **form.cleaned_data)
    except ApiError as error:
        record_refused_write(page, operation, error)
        add_api_error_to_form(form, error)
        return _show(page, [form], status=error.status)
    return page.success_redirect(done, "snippets")


def _show(page: WorkspacePage, sent: Sequence[SnippetForm] = (), *, status: int = 200) -> HttpResponse:
    """Show the page of the workspace's snippets; `sent` is a form that was submitted with errors."""
    wrong = {_key(form.instance if form.instance.pk else None): form for form in sent}
    snippets = selectors.snippets_of_workspace(workspace_id=page.workspace.id)
    return page.render(
        "workspaces/snippets.html",
        status=status,
        rows=[(snippet, wrong.get(_key(snippet)) or SnippetForm(snippet=snippet)) for snippet in snippets],
        new=wrong.get(_key(None)) or SnippetForm(),
        most=services.MAX_SNIPPETS,
    )


def _key(snippet: Snippet | None) -> str:
    return f"snippet-{snippet.pk}" if snippet and snippet.pk else "new"
