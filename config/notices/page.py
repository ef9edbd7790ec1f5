"""The dashboard page on which a member chooses e-mail notices."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.notices.choices import can_receive_email, save_notice_choice, wanted_notice_kinds
from config.notices.models import NoticeKind
from workspaces.models import User
from workspaces.workspace_page import WorkspacePage, workspace_page

KIND_HELP_TEXTS = {
    NoticeKind.APPROVAL: _("An agent wants to publish a post, which waits until somebody approves it."),
    NoticeKind.POST: _("On all of its accounts or on some."),
    NoticeKind.ACCOUNT: _("A platform no longer accepts the connection, so posts to the account fail."),
    NoticeKind.DELIVERY: _("All attempts to deliver an event to your receiver failed."),
    NoticeKind.BUDGET: _("Spent, or reserved for scheduled posts."),
    NoticeKind.SERIES: _("Because of its content, a cap or an account. The series goes on."),
    NoticeKind.KEY: _("For the first time from that network. If nobody in your team uses it, the key may have leaked."),
}


class EmailNoticeChoiceForm(forms.Form):
    """The form for choosing e-mail notices: a checkbox for each kind of notice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in NoticeKind:
            self.fields[kind.value] = forms.BooleanField(label=kind.label, help_text=KIND_HELP_TEXTS[kind], required=False)

    @property
    def wanted(self) -> list[str]:
        """Return the kinds of e-mail notices that the member checked in the submitted form."""
        self.is_valid()
        return [name for name, ticked in self.cleaned_data.items() if ticked]


@workspace_page("GET", "POST", operation="notices.choose")
def show_or_save_notice_choice(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: show which e-mail notices the signed-in member chose, and save a new choice."""
    if page.request.method == "POST":
        wanted = EmailNoticeChoiceForm(page.request.POST).wanted
        save_notice_choice(caller=page.caller, workspace_id=page.workspace.id, wanted=wanted)
        return page.success_redirect(gettext("Saved. The change applies from the next e-mail on."), "notices")
    wanted_now = wanted_notice_kinds(caller=page.caller, workspace_id=page.workspace.id)
    person = User.objects.get(pk=page.caller.actor_id)
    return page.render(
        "notices/notices.html",
        form=EmailNoticeChoiceForm(initial={kind.value: True for kind in wanted_now}),
        person=person,
        reached=can_receive_email(person),
    )
