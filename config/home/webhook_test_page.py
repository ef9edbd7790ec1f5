"""The dashboard page that tests a webhook URL: it publishes a sandbox post and sends that post's events to the URL."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import ConnectedAccount
from config.api.errors import InvalidState, ValidationFailed, WebhookUrlNotAllowed
from config.api.webhook_url import MAX_LENGTH, check_webhook_hosts
from posts import selectors, services
from posts.content import PostInput, TargetInput
from posts.dashboard.inputs import validated_page_input
from posts.serializers.requests import CreatePostSerializer
from workspaces.workspace_page import (
    WorkspacePage,
    add_api_error_to_form,
    record_refused_write,
    run_once_per_submission,
    workspace_page,
)

OPERATION = "posts.create"
TEST_TEXT = "A test of webhooks, sent from the dashboard."
# The choices of outcomes, each with the marker in the text that makes the sandbox produce it.
OUTCOMES = {
    "published": (_("It is published"), ""),
    "failed": (_("It fails"), " [sandbox:reject]"),
    "unconfirmed": (_("It is unknown whether it was published"), " [sandbox:unknown]"),
}


class WebhookTestForm(forms.Form):
    """The form of the webhook test: the webhook URL, and whether the test post shall succeed or fail."""

    webhook_url = forms.CharField(
        label=_("Webhook address"),
        max_length=MAX_LENGTH,
        widget=forms.URLInput({"placeholder": "https://", "autocomplete": "off"}),
    )
    ending = forms.ChoiceField(
        label=_("What happens to the post"), choices=[(name, words) for name, (words, _) in OUTCOMES.items()]
    )


@workspace_page("GET", "POST", operation=OPERATION)
def publish_sandbox_post_to_test_webhook(page: WorkspacePage) -> HttpResponse:
    """Dashboard page: test a webhook URL by publishing a free sandbox post and sending its events to the URL."""
    form = WebhookTestForm(page.request.POST or None)
    if form.is_valid():
        try:
            return _send(page, **form.cleaned_data)
        except (ValidationFailed, WebhookUrlNotAllowed) as error:
            record_refused_write(page, OPERATION, error)
            add_api_error_to_form(form, error, field="webhook_url")
    return page.render("home/webhook_test.html", form=form, status=422 if form.errors else 200)


def _send(page: WorkspacePage, *, webhook_url: str, ending: str) -> HttpResponse:
    """Publish the sandbox post of the webhook test, and redirect to the page of its webhook deliveries."""
    text = TEST_TEXT + OUTCOMES[ending][1]
    account = _account(page, text)
    body = {
        "workspace_id": page.workspace.id,
        "text": text,
        "targets": [{"platform": account.platform, "connected_account_id": account.id}],
        "webhook_url": webhook_url,
        "sandbox": True,
    }
    asked = PostInput.from_request(validated_page_input(CreatePostSerializer, body))
    check_webhook_hosts([webhook_url], page.caller)
    post_group_id, _ = run_once_per_submission(
        page, OPERATION, lambda: services.create_post(caller=page.caller, post=asked).group
    )
    return page.redirect(f"{page.url_of_page('webhooks')}?post={post_group_id}&wait=1")


def _account(page: WorkspacePage, text: str) -> ConnectedAccount:
    """Return an account that can publish the webhook test's text post, preferably in the sandbox. Raises InvalidState."""
    workspace_id = page.workspace.id
    accounts = selectors.accounts_selectable_for_post(caller=page.caller, workspace_id=workspace_id)
    accounts.sort(key=lambda account: not account.sandbox)
    targets = tuple(TargetInput(account.platform, account.id) for account in accounts)
    found = services.validate_post(caller=page.caller, post=PostInput(text, targets, workspace_id=workspace_id))
    for account, checked_target in zip(accounts, found.targets, strict=True):
        if checked_target.valid:
            return account
    raise InvalidState(
        gettext("No connected account accepts a text-only post."),
        suggested_action=gettext("Connect an account, then send the test again."),
    )
