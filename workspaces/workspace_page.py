"""The base of a workspace's dashboard pages: access check, errors, redirects, and protection against double submission.

A page is a function that takes a WorkspacePage and is declared with `@workspace_page(...)`. It calls the same services as
the API.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods

from auditlog.services import record_refusal
from config.api import idempotency
from config.api.caller import Caller, require_access
from config.api.errors import ApiError, PayloadTooLarge, ReauthenticationRequired
from config.api.models import IdempotencyRecord
from config.api.trace import current_trace_id
from config.api.uploads import allow_file_uploads_in_request
from config.pages.language import console_path_if_in_console
from config.pages.message_templates import translated_message
from config.pages.sentences import error_sentences, sentence_about_invalid_field
from workspaces.models import Workspace
from workspaces.selectors import undeleted_workspaces
from workspaces.sign_in import saved_form
from workspaces.sign_in.sessions import authenticated_at

SWITCHER_ROWS = 8


@dataclass(frozen=True)
class WorkspacePage:
    """A request by a signed-in member for one of the workspace's dashboard pages."""

    request: HttpRequest
    caller: Caller
    workspace: Workspace

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone in which this workspace page shows times."""
        return ZoneInfo(self.workspace.default_timezone)

    @property
    def may_write_posts(self) -> bool:
        """Return whether this page's signed-in member may write posts and upload files: owners, admins and editors may."""
        return self.caller.has_scope("posts.draft")

    @property
    def may_publish_without_approval(self) -> bool:
        """Return whether the signed-in member of this workspace page may publish posts without an approval."""
        return self.caller.has_scope("posts.publish") and not self.caller.needs_approval

    @property
    def may_manage(self) -> bool:
        """Return whether this page's signed-in member may manage the workspace and approve posts: owners and admins may."""
        return self.caller.has_scope("api_keys.write")

    @property
    def form_key(self) -> str:
        """Return the value of a workspace page's hidden form field, by which a double submission is recognized.

        A form that is shown again with errors keeps its key.
        """
        return self.request.POST.get("key") or secrets.token_urlsafe(16)

    @property
    def other_workspaces(self) -> list[Workspace]:
        """Return the member's other workspaces, sorted by name, for the page's workspace switcher (up to SWITCHER_ROWS)."""
        mine = undeleted_workspaces().filter(members__user=self.caller.actor_id).exclude(pk=self.workspace.pk)
        return list(mine.order_by("name", "pk")[:SWITCHER_ROWS])

    def url_of_page(self, name: str, **named: str) -> str:
        """Return the URL of a dashboard page of this page's workspace, by the name of the page's route."""
        return reverse(name, kwargs={"workspace_id": self.workspace.id, **named})

    def render(self, template: str, *, status: int = 200, **shown: Any) -> HttpResponse:
        """Render a template of a workspace's dashboard page with the variables in `shown` and this page as `page`."""
        return render(self.request, template, {"page": self, **shown}, status=status)

    def success_redirect(self, message: str, name: str, *, undo: str = "", **named: str) -> HttpResponse:
        """Redirect to another dashboard page of the workspace, which shows a success message.

        `undo` is the address of the action that undoes what was done; the message then has a button for it.
        """
        messages.success(self.request, message, extra_tags=undo)
        return self.redirect(self.url_of_page(name, **named))

    def success_redirect_back(self, message: str, *, undo: str = "") -> HttpResponse:
        """Redirect back to the workspace page with the form, with a success message; `undo` is the address to undo it."""
        messages.success(self.request, message, extra_tags=undo)
        return self.redirect_back()

    def redirect_back(self) -> HttpResponse:
        """Redirect from a submitted form back to the workspace page that contains the form."""
        return self.redirect(_referring_page(self))

    def redirect(self, address: str) -> HttpResponse:
        """Redirect to a workspace's dashboard page with status 303, so that reloading the page does not repeat a write."""
        response = HttpResponseRedirect(address)
        response.status_code = 303
        return response


PageView = Callable[..., HttpResponseBase]


def workspace_page(*methods: str, operation: str = "", files: bool = False) -> Callable[[PageView], PageView]:
    """Decorate a view as a dashboard page of a workspace that allows the given HTTP methods, by default GET and HEAD.

    Anonymous users are redirected to the sign-in page; users who are not members get a 404 page. An ApiError of a GET is
    shown as an error page; one of a POST is shown on the page that contained the form. An error is recorded in the audit
    log as a refusal of `operation` if the request was a POST, or if the page takes GET only. An operation that needs a
    recent sign-in redirects to one and then continues. Times in templates are in the workspace's time zone. `files`: the
    page's forms may upload files (config/api/uploads.py).
    """
    allowed = set(methods or ("GET",))
    if "GET" in allowed:
        allowed.add("HEAD")

    def declare(view: PageView) -> PageView:
        @require_http_methods(sorted(allowed))
        @never_cache
        @login_required
        @functools.wraps(view)
        def answer(request: HttpRequest, workspace_id: str, **named: str) -> HttpResponseBase:
            caller = caller_of_request(request)
            is_recorded = bool(operation) and (request.method == "POST" or "POST" not in allowed)
            try:
                require_access(caller, workspace_id, None, write=False)
            except ApiError as error:
                if is_recorded:
                    record_refusal(caller=caller, operation=operation, error=error, dry_run=False)
                return api_error_page(request, error)
            page = WorkspacePage(request, caller, Workspace.objects.get(pk=workspace_id))
            request.workspace_page = page  # type: ignore[attr-defined]  # for the navigation
            if request.method == "POST":
                saved_form.remove_saved_form(request)
            with timezone.override(page.zone):
                try:
                    return _with_files(page, view, named) if files else view(page, **named)
                except ReauthenticationRequired as error:
                    return _redirect_to_sign_in_again(page, operation, error)
                except ApiError as error:
                    if is_recorded:
                        record_refused_write(page, operation, error)
                    return _show_error(page, operation, error)

        answer.takes_files = files  # type: ignore[attr-defined]  # for the limit of the body
        answer.csrf_exempt = files  # type: ignore[attr-defined]  # then `_with_files` asks for the token
        return answer

    return declare


def _with_files(page: WorkspacePage, view: PageView, named: dict[str, str]) -> HttpResponseBase:
    """Call the view of a workspace page with file uploads, after accepting the files and checking the form's CSRF token.

    The files are read only after the sender was authenticated.
    """
    try:
        allow_file_uploads_in_request(page.request)
    except PayloadTooLarge as error:
        return api_error_page(page.request, error, page)
    checked: Callable[[HttpRequest], HttpResponseBase] = csrf_protect(lambda request: view(page, **named))
    return checked(page.request)


def run_once_per_submission(
    page: WorkspacePage, operation: str, work: Callable[[], Any], *, key: str = ""
) -> tuple[str, bool]:
    """Protect a workspace page against double submission: run `work`, which creates a database row, only once.

    Returns the row's id, and whether an earlier submission created it. The form's hidden `key` (`page.form_key`), or
    else the argument, is stored with the API's idempotency keys and expires like them. Raises what `work` raises (the
    form may then be submitted again with its key), and ValidationFailed for a form without a key.
    """
    key = key or page.request.POST.get("key", "")
    keyed = _keyed_request(page, operation, idempotency.validated_idempotency_key(key) or "")
    result = idempotency.run_or_replay_in_transaction(
        keyed, work, lambda row: idempotency.StoredAnswer(201, None, str(row.pk), page.workspace.id)
    )
    repeated = isinstance(result, IdempotencyRecord)
    return (result.resource_id if repeated else str(result.pk)), repeated


def row_id_of_earlier_submission(page: WorkspacePage, operation: str, key: str) -> str:
    """Return the id of the row that an earlier submission of a workspace page's form created; "" if there was none."""
    record = idempotency.find_answered_record(_keyed_request(page, operation, key))
    return record.resource_id if record else ""


def _keyed_request(page: WorkspacePage, operation: str, key: str) -> idempotency.KeyedRequest:
    return idempotency.build_keyed_request(
        workspace_id=page.workspace.id,
        actor=page.caller.idempotency_key_owner,
        operation=operation,
        key=key,
        request=[page.request.path],
    )


def caller_of_request(request: HttpRequest) -> Caller:
    """Return the Caller for a workspace page: the signed-in user of the request."""
    return Caller(
        kind="user",
        actor_id=str(request.user.pk),
        ip=request.META.get("REMOTE_ADDR") or None,
        authenticated_at=authenticated_at(request),
    )


def api_error_page(request: HttpRequest, error: ApiError, page: WorkspacePage | None = None) -> HttpResponse:
    """Render an API error in the layout of the workspace pages: what is wrong and what to do."""
    shown = {
        "page": page,
        "error": error,
        "sentences": error_sentences(error),
        "trace_id": current_trace_id(),
        "console_path": console_path_if_in_console(request),
    }
    return render(request, "dashboard/error.html", shown, status=error.status)


def record_refused_write(page: WorkspacePage, operation: str, error: ApiError) -> None:
    """For a workspace page that shows an error itself: record the refused write in the audit log."""
    record_refusal(caller=page.caller, operation=operation, error=error, dry_run=False)


def _show_error(page: WorkspacePage, operation: str, error: ApiError) -> HttpResponse:
    """Show an API error on a workspace page: after a POST, the page that contained the form shows the error."""
    if page.request.method != "POST":
        return api_error_page(page.request, error, page)
    messages.error(page.request, " ".join(error_sentences(error, operation)))
    return page.redirect(_referring_page(page))


def _redirect_to_sign_in_again(page: WorkspacePage, operation: str, error: ApiError) -> HttpResponse:
    """Redirect from a workspace page to a new sign-in and then back, and save a submitted form until then."""
    next_address = page.request.get_full_path()
    if page.request.method == "POST":
        record_refused_write(page, operation, error)
        saved_form.save_form_in_session(page.request, operation=operation, came_from=_referring_page(page))
        next_address = reverse("held-form")
    return page.redirect(reverse("sign-in-again", query={"next": next_address}))


def add_api_error_to_form(form: BaseForm, error: ApiError, *, field: str | None = None) -> None:
    """Add an API error to the form of a workspace page: to the fields concerned, or else to the whole form.

    `field` gets an error that names no field.
    """
    for row in error.details or [{"field": field or "", "message": " ".join(error_sentences(error))}]:
        name = row["field"].rpartition(".")[2]
        is_field = name in form.fields
        form.add_error(
            name if is_field else None, translated_message(row["message"]) if is_field else sentence_about_invalid_field(row)
        )


def _referring_page(page: WorkspacePage) -> str:
    """Return the workspace page from which a form was sent; the workspace's first page if that is unknown."""
    referer = page.request.POST.get(saved_form.ORIGIN_FIELD) or page.request.headers.get("referer", "")
    same = url_has_allowed_host_and_scheme(referer, {page.request.get_host()}, require_https=page.request.is_secure())
    parts = urlsplit(referer)
    if same and parts.path.startswith("/dashboard/"):
        return f"{parts.path}?{parts.query}" if parts.query else parts.path
    return page.url_of_page("home")
