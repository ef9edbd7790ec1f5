"""A form that needs a recent sign-in, held in the session until the person has signed in again and sends it once more."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.http import HttpRequest

KEY = "held_form"
CAME_FROM = "came_from"  # the field by which the form says, when it is sent again, on which page it stood
MOST_CHARACTERS = 100_000


@dataclass(frozen=True)
class HeldForm:
    """Where the form goes, what it does, and its fields in order."""

    path: str
    operation: str
    came_from: str
    fields: list[tuple[str, str]]


def hold(request: HttpRequest, *, operation: str, came_from: str) -> None:
    """Keep the request's form, in place of an earlier one. One that is too large is not kept."""
    own = ("csrfmiddlewaretoken", CAME_FROM)
    fields = [(name, value) for name, values in request.POST.lists() if name not in own for value in values]
    if sum(len(name) + len(value) for name, value in fields) <= MOST_CHARACTERS:
        request.session[KEY] = asdict(HeldForm(request.path, operation, came_from, fields))


def held(request: HttpRequest) -> HeldForm | None:
    """The form that waits to be sent."""
    kept = request.session.get(KEY)
    return HeldForm(**kept) if kept else None


def forget(request: HttpRequest) -> None:
    """Call it when a form arrives."""
    request.session.pop(KEY, None)
