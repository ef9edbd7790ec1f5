"""The page on which a member chooses what they hear of by e-mail."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse

from config.notices.choices import can_be_reached, choose_notices, wanted_of
from config.notices.models import NoticeKind
from workspaces.frame import WorkspacePage, workspace_page
from workspaces.models import User

EXPLAINED = {
    NoticeKind.APPROVAL: "An agent asks to publish, and nothing goes out until somebody has read it.",
    NoticeKind.POST: "On all of its accounts or on some.",
    NoticeKind.ACCOUNT: "A platform does not let the service in any more, so posts to that account fail.",
    NoticeKind.DELIVERY: "Your receiver did not take an event in any of the attempts.",
    NoticeKind.BUDGET: "Spent, or held for what is scheduled.",
    NoticeKind.KEY: "For the first time from there. If nobody of you uses that network, the key may have leaked.",
}


class NoticesForm(forms.Form):
    """A box to tick for each kind."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in NoticeKind:
            self.fields[kind.value] = forms.BooleanField(label=kind.label, help_text=EXPLAINED[kind], required=False)

    @property
    def wanted(self) -> list[str]:
        """The ticked kinds of a form that was sent."""
        self.is_valid()
        return [name for name, ticked in self.cleaned_data.items() if ticked]


@workspace_page("GET", "POST", operation="notices.choose")
def notices(page: WorkspacePage) -> HttpResponse:
    """Everybody's own choice, a member's too."""
    if page.request.method == "POST":
        wanted = NoticesForm(page.request.POST).wanted
        choose_notices(caller=page.caller, workspace_id=page.workspace.id, wanted=wanted)
        return page.done("Saved. It holds from the next e-mail on.", "notices")
    wanted_now = wanted_of(caller=page.caller, workspace_id=page.workspace.id)
    person = User.objects.get(pk=page.caller.actor_id)
    return page.render(
        "notices/notices.html",
        form=NoticesForm(initial={kind.value: True for kind in wanted_now}),
        person=person,
        reached=can_be_reached(person),
    )
