"""HTML form for connecting an account, generated from the platform's JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.forms.widgets import Input

NO_COMPLETION = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class ConnectForm(forms.Form):
    """HTML form with a field for each property of the platform's schema that has no default.

    All values are strings. Secrets are not shown again, not even when the form has errors.
    """

    def __init__(self, schema: Mapping[str, Any] | None, data: Any = None, *, method: str) -> None:
        super().__init__(data, auto_id=f"{method}-%s")
        for name, rule in (schema or {}).get("properties", {}).items():
            if "default" not in rule:
                self.fields[name] = _field(name, rule, required=name in (schema or {}).get("required", ()))

    @property
    def given(self) -> dict[str, str]:
        """The submitted values that are not empty."""
        return {name: value for name, value in self.cleaned_data.items() if value}


def _field(name: str, rule: Mapping[str, Any], *, required: bool) -> forms.Field:
    label, help_text = rule.get("title") or name.replace("_", " ").capitalize(), rule.get("description", "")
    if "enum" in rule:
        choices = [(value, str(value).capitalize()) for value in rule["enum"]]
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
        widget=kind(NO_COMPLETION),
        validators=[RegexValidator(rule["pattern"], "This does not look as the hint says.")]
        if "pattern" in rule
        else [],
    )
