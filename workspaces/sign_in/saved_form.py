"""Saves a form in the session while the user must sign in again, so that the form can be submitted afterwards."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.http import HttpRequest

SESSION_KEY = "held_form"
ORIGIN_FIELD = "came_from"  # hidden field with the page that contained the form
MAX_FORM_CHARACTERS = 100_000


@dataclass(frozen=True)
class SavedForm:
    """A form that is saved in the session during a new sign-in: its path, operation and fields, and the page it was on."""

    path: str
    operation: str
    came_from: str
    fields: list[tuple[str, str]]


def save_form_in_session(request: HttpRequest, *, operation: str, came_from: str) -> None:
    """Save the submitted form in the session, replacing an earlier form. A form that is too large is not saved."""
    own = ("csrfmiddlewaretoken", ORIGIN_FIELD)
    fields = [(name, value) for name, values in request.POST.lists() if name not in own for value in values]
    if sum(len(name) + len(value) for name, value in fields) <= MAX_FORM_CHARACTERS:
        request.session[SESSION_KEY] = asdict(SavedForm(request.path, operation, came_from, fields))


def load_saved_form(request: HttpRequest) -> SavedForm | None:
    """Return the form that was saved in the session before a new sign-in; None if no form was saved."""
    fields = request.session.get(SESSION_KEY)
    return SavedForm(**fields) if fields else None


def remove_saved_form(request: HttpRequest) -> None:
    """Remove the saved form from the user's session, because the user has now submitted it or another form."""
    request.session.pop(SESSION_KEY, None)
