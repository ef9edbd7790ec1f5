"""Dashboard page that connects an account of one platform, with a form for its credentials or with OAuth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.forms.widgets import Input
from django.http import HttpResponse
from django.utils.translation import gettext as _

from accounts import selectors, services
from accounts.dashboard.obstacles import connection_obstacle_sentence_or_none
from accounts.dashboard.option_names import option_display_name, option_value_display_name
from accounts.models import ConnectedAccount
from accounts.platforms.base import Platform
from accounts.platforms.registry import PLATFORMS, get_adapter
from config.api.caller import require_access
from config.api.errors import ApiError, missing_or_foreign_id_error
from workspaces.workspace_page import WorkspacePage, add_api_error_to_form, record_refused_write, workspace_page

CONNECT_OPERATION = "accounts.connect"
Method = ConnectedAccount.Method
NO_AUTOCOMPLETE_ATTRIBUTES = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class CredentialsForm(forms.Form):
    """HTML form for the credentials of an account to connect; its fields come from the platform's JSON Schema.

    A value with a default gets no field. All values are strings. Secrets are not shown again, not even when the form has
    errors.
    """

    def __init__(self, schema: Mapping[str, Any] | None, data: Any = None, *, method: str) -> None:
        super().__init__(data, auto_id=f"{method}-%s")
        for name, rule in (schema or {}).get("properties", {}).items():
            if "default" not in rule:
                self.fields[name] = _field(name, rule, required=name in (schema or {}).get("required", ()))

    @property
    def submitted_credentials(self) -> dict[str, str]:
        """Return the values that were submitted in the form for an account's credentials, without the empty ones."""
        return {name: value for name, value in self.cleaned_data.items() if value}


@dataclass(frozen=True)
class ShownConnectionMethod:
    """A method (credentials or OAuth) of connecting an account, as the dashboard page of one platform shows it.

    `obstacle` is the reason why the method is unavailable now, or None. `setup` is what the method requires from the
    account's owner and from the operator (selectors.connection_method_requirements).
    """

    name: str
    form: CredentialsForm
    obstacle: str | None
    setup: dict[str, Any]


@workspace_page("GET", "POST", operation=CONNECT_OPERATION)
def show_connection_methods_or_connect(page: WorkspacePage, platform_name: str) -> HttpResponse:
    """Dashboard page that shows how to connect an account of a platform; a submitted form connects it with credentials.

    The HTML form of the OAuth method is sent to /dashboard/connect instead.
    """
    require_access(page.caller, page.workspace.id, "accounts.write", write=False)
    if platform_name not in PLATFORMS:
        raise missing_or_foreign_id_error(None, "platform")
    chosen = get_adapter(platform_name)
    if page.request.method != "POST":
        return _connect_page(page, chosen, CredentialsForm(chosen.credentials_schema, method=Method.CREDENTIALS))
    form = CredentialsForm(chosen.credentials_schema, page.request.POST, method=Method.CREDENTIALS)
    if not form.is_valid():
        return _connect_page(page, chosen, form, status=422)
    try:
        account = services.connect_account_or_begin_oauth(
            caller=page.caller,
            workspace_id=page.workspace.id,
            platform_name=chosen.name,
            method=Method.CREDENTIALS,
            credentials=form.submitted_credentials,
        )
    except ApiError as error:
        record_refused_write(page, CONNECT_OPERATION, error)
        add_api_error_to_form(form, error)
        return _connect_page(page, chosen, form, status=error.status)
    assert isinstance(account, ConnectedAccount)  # noqa: S101 - the credentials method always returns an account
    named = {"platform": chosen.label, "account": account.handle or account.external_id}
    message = _("The %(platform)s account %(account)s is connected.") % named
    return page.success_redirect(message, "account", account_id=account.id)


def _connect_page(page: WorkspacePage, chosen: Platform, form: CredentialsForm, *, status: int = 200) -> HttpResponse:
    """Render the dashboard page for connecting an account of a platform.

    It has this credentials form if the platform accepts credentials.
    """
    shown = {Method.CREDENTIALS: form, Method.OAUTH: CredentialsForm(chosen.oauth_input_schema, method=Method.OAUTH)}
    methods = [
        ShownConnectionMethod(
            method,
            shown[Method(method)],
            connection_obstacle_sentence_or_none(chosen, method),
            selectors.connection_method_requirements(chosen, method),
        )
        for method in chosen.methods
    ]
    methods.sort(key=lambda each: (each.obstacle is not None, each.name != Method.OAUTH))  # available first, then OAuth
    return page.render("accounts/platform.html", platform=chosen, methods=methods, form=form, status=status)


def _field(name: str, rule: Mapping[str, Any], *, required: bool) -> forms.Field:
    label, help_text = _(rule["title"]) if "title" in rule else option_display_name(name), _(rule.get("description", ""))
    if "enum" in rule:
        choices = [(value, option_value_display_name(name, value)) for value in rule["enum"]]
        return forms.ChoiceField(
            required=required, label=label, help_text=help_text, choices=choices, widget=forms.RadioSelect
        )
    kind: type[Input] = forms.URLInput if rule.get("format") == "uri" else forms.TextInput
    if rule.get("writeOnly"):
        kind = forms.PasswordInput
    return forms.CharField(
        required=required,
        label=label,
        help_text=help_text,
        min_length=rule.get("minLength"),
        max_length=rule.get("maxLength"),
        widget=kind(NO_AUTOCOMPLETE_ATTRIBUTES),
        validators=[RegexValidator(rule["pattern"], _("This does not look as the hint says."))] if "pattern" in rule else [],
    )
