"""A trial of a webhook address: a sandbox post whose events go there, as those of any post do."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse

from accounts.models import ConnectedAccount
from config.api.errors import InvalidState, ValidationFailed, WebhookUrlNotAllowed
from config.api.webhook_url import MAX_LENGTH, check_webhook_hosts
from posts import selectors, services
from posts.dashboard.inputs import checked
from posts.serializers.writes import CreatePostSerializer
from workspaces.frame import WorkspacePage, once, put_errors, refuse, workspace_page

OPERATION = "posts.create"
TEXT = "A test of webhooks, sent from the dashboard."
# What people choose from, and the mark by which the sandbox lets it happen.
ENDINGS = {
    "published": ("It is published", ""),
    "failed": ("It fails", " [sandbox:reject]"),
    "unconfirmed": ("Nobody knows whether it is out", " [sandbox:unknown]"),
}


class TrialForm(forms.Form):
    """Where to, and what is to happen to the post."""

    webhook_url = forms.CharField(
        label="Webhook address",
        max_length=MAX_LENGTH,
        widget=forms.URLInput({"placeholder": "https://", "autocomplete": "off"}),
    )
    ending = forms.ChoiceField(
        label="What happens to the post", choices=[(name, words) for name, (words, _) in ENDINGS.items()]
    )


@workspace_page("GET", "POST", operation=OPERATION)
def webhook_trial(page: WorkspacePage) -> HttpResponse:
    """Ask for an address, and send it the events of a post that reaches nobody and costs nothing."""
    form = TrialForm(page.request.POST or None)
    if form.is_valid():
        try:
            return _send(page, **form.cleaned_data)
        except (ValidationFailed, WebhookUrlNotAllowed) as error:
            refuse(page, OPERATION, error)
            put_errors(form, error, field="webhook_url")
    return page.render("home/webhook_trial.html", form=form, status=422 if form.errors else 200)


def _send(page: WorkspacePage, *, webhook_url: str, ending: str) -> HttpResponse:
    """Publish the post in the sandbox, and go where its deliveries show up."""
    text = TEXT + ENDINGS[ending][1]
    body = {
        "workspace_id": page.workspace.id,
        "text": text,
        "targets": [_target(_account(page, text))],
        "webhook_url": webhook_url,
        "sandbox": True,
    }
    asked = checked(CreatePostSerializer, body)
    check_webhook_hosts([webhook_url], page.caller)
    post_group_id, _ = once(page, OPERATION, lambda: services.create_post(caller=page.caller, **asked))
    return page.go(f"{page.path('webhooks')}?post={post_group_id}&wait=1")


def _account(page: WorkspacePage, text: str) -> ConnectedAccount:
    """An account whose platform takes a text alone, one of the sandbox where there is one. Raises InvalidState."""
    workspace_id = page.workspace.id
    accounts = selectors.accounts_to_choose(caller=page.caller, workspace_id=workspace_id)
    accounts.sort(key=lambda account: not account.sandbox)
    targets = [_target(account) for account in accounts]
    found = services.validate_post(caller=page.caller, workspace_id=workspace_id, text=text, targets=targets)
    for account, checked_target in zip(accounts, found.targets, strict=True):
        if checked_target.valid:
            return account
    raise InvalidState("No account takes a text alone.", suggested_action="Connect one, then send the test again.")


def _target(account: ConnectedAccount) -> dict[str, str]:
    return {"platform": account.platform, "connected_account_id": account.id}
