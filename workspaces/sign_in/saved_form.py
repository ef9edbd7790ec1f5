"""Saves a form in the session while the user must sign in or sign in again, so that what it contains is not lost.

The form of an operation that needs a recent sign-in can be submitted afterwards. What a person has written on a page with
`keep_text_while_signed_out`, and sent after their session had ended, is on that page again after they have signed in.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework.authentication import CSRFCheck

from config.api import rate_limit
from config.api.client_address import client_address_for_rate_limits
from config.api.incoming_body import MAX_BODY_BYTES, IncomingBody

SESSION_KEY = "held_form"
KEPT_TEXTS_KEY = "kept_texts"
WRITER_FIELD = "writer"  # hidden field with the id of the user for whom the page was made
ORIGIN_FIELD = "came_from"  # hidden field with the page that contained the form
MAX_FORM_CHARACTERS = 100_000
KEPT_SECONDS = 3600
KEPT_TEXTS_PER_CLIENT = 30  # in an hour
KEPT_TEXTS_PER_SESSION = 5  # the last ones, of different pages


@dataclass(frozen=True)
class SavedForm:
    """A form that is saved in the session during a new sign-in: its path, operation and fields, and the page it was on."""

    path: str
    operation: str
    came_from: str
    fields: list[tuple[str, str]]


def save_form_in_session(request: HttpRequest, *, operation: str, came_from: str) -> None:
    """Save the submitted form in the session, replacing an earlier form. A form that is too large is not saved."""
    fields = _fields_or_none_if_too_large(request)
    if fields is not None:
        request.session[SESSION_KEY] = asdict(SavedForm(request.path, operation, came_from, fields))


def load_saved_form(request: HttpRequest) -> SavedForm | None:
    """Return the form that was saved in the session before a new sign-in; None if no form was saved."""
    fields = request.session.get(SESSION_KEY)
    return SavedForm(**fields) if fields else None


def remove_saved_form(request: HttpRequest) -> None:
    """Remove the saved form from the user's session, because the user has now submitted it or another form."""
    request.session.pop(SESSION_KEY, None)


def keep_text_while_signed_out(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate a dashboard page whose form has a long text: a form sent by somebody who is signed out is kept for an hour.

    The page's template has the hidden field WRITER_FIELD, and its view calls `pop_text_kept_while_signed_out`. Scripts keep
    the text themselves, so only a form that the browser itself has sent is kept.
    """

    @functools.wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.method == "POST" and not request.user.is_authenticated and _may_keep_text(request):
            kept = request.session.get(KEPT_TEXTS_KEY, {})
            kept.pop(request.path, None)
            kept[request.path] = [time.time() + KEPT_SECONDS, _fields_or_none_if_too_large(request)]
            request.session[KEPT_TEXTS_KEY] = dict(list(kept.items())[-KEPT_TEXTS_PER_SESSION:])
            request.session.set_expiry(KEPT_SECONDS)
            messages.info(request, _("You are signed out. Your text is kept here."))
        return view(request, *arguments, **named)

    return answer


def pop_text_kept_while_signed_out(request: HttpRequest, user_id: str) -> QueryDict | None:
    """Return the form of this page that its user has sent while signed out, and keep it no longer; None without one."""
    kept = request.session.get(KEPT_TEXTS_KEY, {})
    if request.path not in kept:
        return None
    until, fields = kept.pop(request.path)
    request.session.modified = True
    if time.time() > until:
        return None
    form = QueryDict(mutable=True)
    for name, value in fields:
        form.appendlist(name, value)
    return form if form.get(WRITER_FIELD) == user_id else None


def _may_keep_text(request: HttpRequest) -> bool:
    """Return whether a form of somebody who is signed out was sent from our page, is small, and is not one of many."""
    size = request.META.get("CONTENT_LENGTH") or ""
    if "text/html" not in request.headers.get("accept", "") or not size.isdecimal() or int(size) > MAX_BODY_BYTES:
        return False
    if isinstance(source := request.META["wsgi.input"], IncomingBody):
        source.limit = MAX_BODY_BYTES  # so that receiving the body takes no place of an upload
    check = CSRFCheck(HttpResponse)
    check.process_request(request)
    if check.process_view(request, HttpResponse, (), {}) is not None or not request.POST.get(WRITER_FIELD):
        return False
    if not _fields_or_none_if_too_large(request):
        return False
    client = client_address_for_rate_limits(request)
    bucket = rate_limit.Bucket(f"kept-texts-from:{client}", KEPT_TEXTS_PER_CLIENT, KEPT_SECONDS)
    return rate_limit.count_request_unless_rate_limited(bucket).allowed


def _fields_or_none_if_too_large(request: HttpRequest) -> list[tuple[str, str]] | None:
    """Return the names and values of the submitted form; None if they are too large to be saved in the session."""
    own = ("csrfmiddlewaretoken", ORIGIN_FIELD)
    fields = [(name, value) for name, values in request.POST.lists() if name not in own for value in values]
    return fields if sum(len(name) + len(value) for name, value in fields) <= MAX_FORM_CHARACTERS else None
