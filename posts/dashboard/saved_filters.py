"""Saved filters of the list of posts and of the calendar: links to them, a form that saves the current one, and deletion."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from config.api.errors import NotFound
from config.pages.sentences import PageRefusal
from posts.models import SavedFilter
from posts.services.saved_filters import delete_saved_filter, save_or_replace_filter, saved_filters_of_person
from workspaces.workspace_page import WorkspacePage, workspace_page

FILTER_PARAMETERS = ("q", "tag", "status", "account", "agent", "platform")
KEPT_PARAMETERS = (*FILTER_PARAMETERS, "view")
MAX_QUERY_CHARACTERS, MAX_NAME_CHARACTERS = 1000, 40  # as in the model


@workspace_page("POST")
def save_current_filter(page: WorkspacePage) -> HttpResponse:
    """Dashboard action that saves the current filter of the list of posts, or of the calendar, under a name."""
    sent = page.request.POST
    filtered_page, name = sent.get("page", ""), " ".join(sent.get("name", "").replace("\0", "").split())
    query = _filter_of_query(QueryDict(sent.get("query", "").replace("\0", "")))
    if filtered_page not in SavedFilter.FilteredPage.values:
        raise NotFound()
    if not any(query.get(each) for each in FILTER_PARAMETERS):
        raise PageRefusal(_("Choose a filter and press Show first. Then save it."))
    if not name or len(name) > MAX_NAME_CHARACTERS or len(query.urlencode()) > MAX_QUERY_CHARACTERS:
        raise PageRefusal(_("Enter a name of up to %(most)d characters.") % {"most": MAX_NAME_CHARACTERS})
    save_or_replace_filter(
        caller=page.caller, workspace_id=page.workspace.id, page=filtered_page, name=name, query=query.urlencode()
    )
    return page.success_redirect_back(_("The filter is saved as “%(name)s”.") % {"name": name})


@workspace_page("POST")
def delete_filter(page: WorkspacePage, filter_id: int) -> HttpResponse:
    """Dashboard action that deletes a saved filter of the signed-in person."""
    delete_saved_filter(caller=page.caller, workspace_id=page.workspace.id, filter_id=filter_id)
    return page.success_redirect_back(_("The saved filter was deleted."))


def saved_filters_context(page: WorkspacePage, filtered_page: str) -> dict[str, Any]:
    """Return what `posts/saved_filters.html` shows on a page: the saved filters, and the one that is chosen now."""
    current = _filter_of_query(page.request.GET)
    saved = saved_filters_of_person(caller=page.caller, workspace_id=page.workspace.id, page=filtered_page)
    is_filtered = any(current.get(each) for each in FILTER_PARAMETERS)
    return {
        "saved_filters": saved,
        "filtered_page": filtered_page,
        "filtered_page_address": page.url_of_page(filtered_page),
        "query_to_save": current.urlencode() if is_filtered else "",
        "current_query": current.urlencode(),
    }


def _filter_of_query(query: QueryDict) -> QueryDict:
    """Return what a saved filter keeps of a page's query string: no days, no page numbers, no empty values."""
    kept = QueryDict(mutable=True)
    for name in KEPT_PARAMETERS:
        if value := query.get(name, "").strip():
            kept[name] = value
    return kept
