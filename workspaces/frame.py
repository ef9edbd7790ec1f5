"""The dashboard's frame: which signed-in person looks at which workspace, and what becomes of what is refused.

A page is a function of a WorkspacePage, declared by `@workspace_page(...)`. It calls the services of the API; there is no
second way to write.
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
from config.api.caller import Caller, require
from config.api.errors import ApiError, PayloadTooLarge, ReauthenticationRequired
from config.api.form_files import take_files
from config.api.models import IdempotencyRecord
from config.api.trace import current_trace_id
from workspaces.models import Member, Workspace
from workspaces.sign_in import held_form
from workspaces.sign_in.sessions import authenticated_at


@dataclass(frozen=True)
class WorkspacePage:
    """One request of a signed-in member for a page of a workspace."""

    request: HttpRequest
    caller: Caller
    workspace: Workspace

    @property
    def zone(self) -> ZoneInfo:
        """The workspace's time zone, in which its pages show times."""
        return ZoneInfo(self.workspace.default_timezone)

    @property
    def may_write(self) -> bool:
        """Whether forms are shown: owners and admins hold every scope, members read."""
        return self.caller.role in (Member.Role.OWNER, Member.Role.ADMIN)

    @property
    def form_key(self) -> str:
        """The hidden `key` of a form whose effect `once` has: new for each form, kept while the form has mistakes."""
        return self.request.POST.get("key") or secrets.token_urlsafe(16)

    def path(self, name: str, **named: str) -> str:
        """The address of another page of this workspace."""
        return reverse(name, kwargs={"workspace_id": self.workspace.id, **named})

    def render(self, template: str, *, status: int = 200, **shown: Any) -> HttpResponse:
        """The template with `page` and what is shown."""
        return render(self.request, template, {"page": self, **shown}, status=status)

    def done(self, told: str, name: str, **named: str) -> HttpResponse:
        """After a write: tell the person, and go on to another page of this workspace."""
        messages.success(self.request, told)
        return self.go(self.path(name, **named))

    def back(self, told: str) -> HttpResponse:
        """After a write: tell the person, and return to the page that the form stood on."""
        messages.success(self.request, told)
        return self.go(_where_from(self))

    def go(self, address: str) -> HttpResponse:
        """Send the browser on (303: a reload repeats no write)."""
        response = HttpResponseRedirect(address)
        response.status_code = 303
        return response


PageView = Callable[..., HttpResponseBase]


def workspace_page(*methods: str, operation: str = "", files: bool = False) -> Callable[[PageView], PageView]:
    """Declare a page under /dashboard/workspaces/<workspace_id>/: its methods (GET means HEAD too; the default).

    Nobody signed in: to the sign-in page. Strangers get a 404 page. An ApiError of a GET becomes a page that tells it;
    one of a POST is told, and the person is back at the form's page. The error of a POST is recorded as a refusal of
    `operation`; that of a GET is where the page takes nothing else. What needs a recent sign-in asks for one, and then
    goes on. Times in templates are in the workspace's zone. `files`: its forms may bring files
    (config/api/form_files.py).
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
            caller = caller_of(request)
            on_record = bool(operation) and (request.method == "POST" or "POST" not in allowed)
            try:
                require(caller, workspace_id, None, write=False)
            except ApiError as error:
                if on_record:
                    record_refusal(caller=caller, operation=operation, error=error, dry_run=False)
                return error_page(request, error)
            page = WorkspacePage(request, caller, Workspace.objects.get(pk=workspace_id))
            request.workspace_page = page  # type: ignore[attr-defined]  # for the frame's navigation
            if request.method == "POST":
                held_form.forget(request)
            with timezone.override(page.zone):
                try:
                    return _with_files(page, view, named) if files else view(page, **named)
                except ReauthenticationRequired as error:
                    return _ask_to_sign_in_again(page, operation, error)
                except ApiError as error:
                    if on_record:
                        refuse(page, operation, error)
                    return _back(page, error) if request.method == "POST" else error_page(request, error, page)

        answer.takes_files = files  # type: ignore[attr-defined]  # for the limit of the body
        answer.csrf_exempt = files  # type: ignore[attr-defined]  # then `_with_files` asks for the token
        return answer

    return declare


def _with_files(page: WorkspacePage, view: PageView, named: dict[str, str]) -> HttpResponseBase:
    """The form is read, its token first, only now that it is known who sends it."""
    try:
        take_files(page.request)
    except PayloadTooLarge as error:
        return error_page(page.request, error, page)
    checked: Callable[[HttpRequest], HttpResponseBase] = csrf_protect(lambda request: view(page, **named))
    return checked(page.request)


def once(page: WorkspacePage, operation: str, work: Callable[[], Any]) -> tuple[str, bool]:
    """Have a form's effect once, however often the form is sent; `work` makes a row.

    Returns the row's id, and whether an earlier sending had made it. The form's hidden `key` (`page.form_key`) stands
    among the API's idempotency keys, for as long. Raises what `work` raises (the form may then be sent again with its
    key), ValidationFailed for a form without a key.
    """
    ticket = idempotency.ticket(
        workspace_id=page.workspace.id,
        actor=page.caller.idempotency_actor,
        operation=operation,
        key=idempotency.read_key(page.request.POST.get("key", "")) or "",
        request=[page.request.path],
    )
    made = idempotency.in_transaction(
        ticket, work, lambda row: idempotency.Answer(201, None, str(row.pk), page.workspace.id)
    )
    repeated = isinstance(made, IdempotencyRecord)
    return (made.resource_id if repeated else str(made.pk)), repeated


def caller_of(request: HttpRequest) -> Caller:
    """The signed-in person as services take callers."""
    return Caller(
        kind="user",
        actor_id=str(request.user.pk),
        ip=request.META.get("REMOTE_ADDR") or None,
        authenticated_at=authenticated_at(request),
    )


def error_page(request: HttpRequest, error: ApiError, page: WorkspacePage | None = None) -> HttpResponse:
    """What went wrong and what to do, as a page."""
    shown = {"page": page, "error": error, "trace_id": current_trace_id()}
    return render(request, "dashboard/error.html", shown, status=error.status)


def refuse(page: WorkspacePage, operation: str, error: ApiError) -> None:
    """Put a refused write on record, for views that show the error themselves."""
    record_refusal(caller=page.caller, operation=operation, error=error, dry_run=False)


def _back(page: WorkspacePage, error: ApiError) -> HttpResponse:
    """Tell the person what is wrong on the page that the form stood on."""
    messages.error(page.request, told(error))
    return page.go(_where_from(page))


def _ask_to_sign_in_again(page: WorkspacePage, operation: str, error: ApiError) -> HttpResponse:
    """Send the person to a new sign-in, and then back; a form that was sent is held for that time."""
    goes_on = page.request.get_full_path()
    if page.request.method == "POST":
        refuse(page, operation, error)
        held_form.hold(page.request, operation=operation, came_from=_where_from(page))
        goes_on = reverse("held-form")
    return page.go(reverse("sign-in-again", query={"next": goes_on}))


def told(error: ApiError) -> str:
    """The error in sentences: what is wrong, each field's problem, what to do."""
    problems = [f"{row.get('field') or row.get('path') or ''}: {row['message']}" for row in error.details or []]
    return " ".join([error.message, *problems, error.suggested_action])


def put_errors(form: BaseForm, error: ApiError, *, field: str | None = None) -> None:
    """Show a refused write at the form's fields that it names, by the last part of their path; the rest stands above them.

    `field`: where an error stands that names none.
    """
    rows = error.details or [{"field": field or "", "message": f"{error.message} {error.suggested_action}"}]
    for row in rows:
        name = row["field"].rpartition(".")[2]
        known = name in form.fields
        form.add_error(name if known else None, row["message"] if known or not name else f"{name}: {row['message']}")


def _where_from(page: WorkspacePage) -> str:
    """The dashboard's page that sent the form, else the workspace's home. A form that was held says where it came from."""
    referer = page.request.POST.get(held_form.CAME_FROM) or page.request.headers.get("referer", "")
    same = url_has_allowed_host_and_scheme(referer, {page.request.get_host()}, require_https=page.request.is_secure())
    parts = urlsplit(referer)
    if same and parts.path.startswith("/dashboard/"):
        return f"{parts.path}?{parts.query}" if parts.query else parts.path
    return page.path("home")
