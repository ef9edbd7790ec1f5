"""Dashboard forms for posts: the publishing time, and platform options, whose fields are generated from a JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.option_names import option_display_name, option_value_display_name
from config.api.errors import MalformedRequest
from config.api.request_body import parse_json
from posts.dashboard.inputs import normalize_newlines_and_nul
from posts.local_time import instants_at_local_time, shift_past_clock_change

DATETIME_LOCAL_FORMAT = "%Y-%m-%dT%H:%M"
ALLOWED_YEARS = range(1970, 2201)
_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
_BOOLEAN = (("", gettext_lazy("Not set")), ("true", gettext_lazy("Yes")), ("false", gettext_lazy("No")))


class ScheduleForm(forms.Form):
    """Form for a post's publishing time in the workspace's time zone.

    When clocks are set back, a time occurs twice; the field `which` then selects the first or the second.
    """

    when = forms.CharField(
        label=gettext_lazy("When to publish"),
        widget=forms.TextInput({"type": "datetime-local"}),
        error_messages={"required": gettext_lazy("Choose the day and time.")},
    )
    which = forms.ChoiceField(label=gettext_lazy("Clocks are set back, so this time occurs twice"), widget=forms.RadioSelect)

    def __init__(
        self, data: Any = None, *, zone: ZoneInfo, at: datetime | None = None, required: bool = False, prefix: str = ""
    ) -> None:
        local = at.astimezone(zone) if at else None
        initial = {"when": local.strftime(DATETIME_LOCAL_FORMAT), "which": str(local.fold)} if local else {}
        super().__init__(data, initial=initial, prefix=prefix or None)
        self.zone, self._before = zone, at
        self.fields["when"].required = required
        self.fields["when"].help_text = _("In %(zone)s, the workspace's time zone.") % {"zone": zone.key}
        self.local_time = _parse_local_time(str(self["when"].value() or ""))
        self.instants = instants_at_local_time(self.local_time, zone) if self.local_time else []
        if len(self.instants) == 2:
            first, second = (_describe_instant(each, zone) for each in self.instants)
            named = [
                ("0", _("The first time, %(time)s") % {"time": first}),
                ("1", _("The second time, %(time)s") % {"time": second}),
            ]
            self.fields["which"].choices = named  # type: ignore[attr-defined]
        else:
            del self.fields["which"]

    @property
    def chosen_time_or_none(self) -> datetime | None:
        """Return the publishing time chosen in the schedule form, or None if none was chosen.

        The form has no seconds: an unchanged time keeps the seconds that it had before.
        """
        if not self.instants:
            return None
        at = self.instants[int(self.cleaned_data.get("which", 0))]
        unchanged = self._before is not None and self._before.replace(second=0, microsecond=0) == at
        return self._before if unchanged else at

    def clean_when(self) -> str:
        text = str(self.cleaned_data["when"])
        if text and self.local_time is None:
            raise forms.ValidationError(_("Enter a date and time, such as 2027-01-31T09:00."))
        if self.local_time is not None and not self.instants:
            later = shift_past_clock_change(self.local_time, self.zone)
            words = _("Clocks are set forward, so this time does not exist. Did you mean %(time)s?")
            raise forms.ValidationError(words % {"time": f"{later:%H:%M}"})
        return text


@dataclass(frozen=True)
class PlatformOptionFieldset:
    """The form fields of one platform option of a post; an option that is a JSON object has one field for each property."""

    legend: str
    help_text: str
    fields: list[forms.BoundField]


class LinesField(forms.CharField):
    """Form field for a platform option of a post that is a list of texts, one per line; empty lines are ignored."""

    widget = forms.Textarea({"rows": 4, "class": "short"})

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        """Convert the text in a form field for a platform option of a post to its non-empty lines, each stripped."""
        return _lines(normalize_newlines_and_nul(str(value or "")))


class PlatformOptionsForm(forms.Form):
    """Form for the platform options of a post target, generated from the platform's JSON Schema.

    Texts, choices, numbers, booleans, lists of texts, and objects of such values get fields; an object's fields are named
    `option.part`. Options of other types are passed through unchanged as JSON in a hidden field. `focused` names the field
    that gets the focus on the page.
    """

    marks_needed = True  # no field is required, since drafts may be incomplete; validation reports what is missing
    unshown = forms.CharField(required=False, widget=forms.HiddenInput({"id": False}))

    def __init__(
        self, schema: Mapping[str, Any], data: Any = None, *, prefix: str, options: Mapping[str, Any], focused: str = ""
    ) -> None:
        super().__init__(data, prefix=prefix, auto_id="%s")  # short ids, since a page has many fields
        self.others = dict(options)
        self._groups: list[tuple[str, str, list[str]]] = []  # legend, help text and the names of the fields
        for name, (rule, fields) in _fields_of(schema).items():
            if name not in options or _can_show(rule, options[name]):
                self.fields.update(fields)
                self.initial.update(_initial(name, self.others.pop(name, None)))
                legend = (_label(name, rule), _description(rule)) if rule.get("type") == "object" else ("", "")
                self._groups.append((*legend, list(fields)))
        self.has_focus = focused in self.fields
        if self.has_focus:
            self.fields[focused].widget.attrs["autofocus"] = True
        self.initial["unshown"] = json.dumps(self.others) if self.others else ""

    @property
    def option_fieldsets(self) -> list[PlatformOptionFieldset]:
        """Return the form's fields for platform options, grouped by option, in the order of the platform's JSON Schema."""
        return [
            PlatformOptionFieldset(legend, help_text, [self[name] for name in names])
            for legend, help_text, names in self._groups
        ]

    @property
    def submitted_options(self) -> dict[str, Any]:
        """Return the platform options submitted in this form, converted to the types of the platform's JSON Schema.

        Invalid values remain text.
        """
        self.is_valid()
        values = {name: self.cleaned_data.get(name, self[name].value()) for name in self.fields}
        options = _parse_object(values.pop("unshown") or "")
        given: dict[str, Any] = {}
        for field, value in values.items():
            if value is None or value in ("", []):
                continue
            name, _dot, part = field.partition(".")
            place = given.setdefault(name, {}) if part else given
            place[part or name] = normalize_newlines_and_nul(value) if isinstance(value, str) else value
        return options | given


def _fields_of(schema: Mapping[str, Any]) -> dict[str, tuple[Mapping[str, Any], dict[str, forms.Field]]]:
    """Return the platform options of a post that can be edited in a form, each with its JSON Schema and its form fields.

    An option that is a JSON object can be shown only if there is a field for each of its parts.
    """
    found = {}
    for name, rule in schema.get("properties", {}).items():
        parts = {f"{name}.{part}": each for part, each in rule["properties"].items()} if "properties" in rule else {}
        needed = {f"{name}.{part}" for part in rule.get("required", ())} | set(schema.get("required", ()))
        fields = {each: _field(each, own, needed=each in needed) for each, own in (parts or {name: rule}).items()}
        if all(fields.values()):
            found[name] = rule, {each: field for each, field in fields.items() if field}
    return found


def _field(name: str, rule: Mapping[str, Any], *, needed: bool) -> forms.Field | None:
    """Return the form field for a platform option's JSON Schema, or None for a type that forms do not support.

    The field has a label and a help text.
    """
    own_name = name.rpartition(".")[2]
    field = _plain_field(own_name, rule)
    if field:
        label = _label(own_name, rule)
        field.label = _("%(label)s (needed)") % {"label": label} if needed else label
        one_each = _("One per line.") if isinstance(field, LinesField) else ""
        field.help_text = f"{_description(rule)} {one_each}".strip()
    return field


def _label(name: str, rule: Mapping[str, Any]) -> str:
    """Return the label of the form field for a platform option, in the language of the page."""
    return _(rule["title"]) if rule.get("title") else option_display_name(name)


def _description(rule: Mapping[str, Any]) -> str:
    return _(rule["description"]) if rule.get("description") else ""


def _plain_field(name: str, rule: Mapping[str, Any]) -> forms.Field | None:
    """Return the form field for a platform option that is a plain value or a list of texts; None for other types.

    For `anyOf`, it is the field of the first supported type.
    """
    if "anyOf" in rule:
        fields = (_plain_field(name, each) for each in rule["anyOf"])
        return next((field for field in fields if field), None)
    if "enum" in rule:
        values = {str(value): value for value in rule["enum"]}
        return forms.TypedChoiceField(
            choices=[("", _("Not set")), *((text, option_value_display_name(name, text)) for text in values)],
            coerce=values.__getitem__,
            empty_value=None,
            required=False,
        )
    match rule.get("type"):
        case "boolean":
            return forms.TypedChoiceField(choices=_BOOLEAN, coerce="true".__eq__, empty_value=None, required=False)
        case "integer":
            bounds = {"min": rule.get("minimum"), "max": rule.get("maximum"), "step": rule.get("multipleOf")}
            shown = {name: bound for name, bound in bounds.items() if bound is not None}
            return forms.IntegerField(required=False, widget=forms.NumberInput(shown))
        case "string":
            limit = {"maxlength": rule["maxLength"]} if "maxLength" in rule else {}
            return forms.CharField(required=False, widget=forms.TextInput(limit))
        case "array" if rule["items"].get("type") == "string":
            return LinesField(required=False)
    return None


def _can_show(rule: Mapping[str, Any], value: Any) -> bool:
    """Return whether the form of platform options can show a stored option, so that saving the form loses nothing."""
    match rule.get("type"):
        case "object":
            parts = rule["properties"]
            return isinstance(value, dict) and all(
                part in parts and _can_show(parts[part], own) for part, own in value.items()
            )
        case "array":
            texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
            return texts and _lines("\n".join(value)) == value
    if isinstance(value, str):  # a text input drops line breaks and surrounding spaces
        return value == value.strip() and "\n" not in value
    return not isinstance(value, dict | list)


def _initial(name: str, value: Any) -> dict[str, Any]:
    """Return the initial values of the form fields of one platform option of a post."""
    if isinstance(value, dict):
        return {f"{name}.{part}": _form_value(own) for part, own in value.items()}
    return {name: _form_value(value)}


def _form_value(value: Any) -> Any:
    """Return a platform option's value as its form field shows it, such as one line for each text."""
    if isinstance(value, list):
        return "\n".join(value)
    return str(value).lower() if isinstance(value, bool) else value


def _lines(text: str) -> list[str]:
    return [stripped for line in text.split("\n") if (stripped := line.strip())]


def _parse_object(text: str) -> dict[str, Any]:
    """Parse the JSON object in the hidden field of the options form; invalid JSON gives an empty object."""
    try:
        value = parse_json(text.encode()) if text else {}
    except MalformedRequest:
        return {}
    return value if isinstance(value, dict) else {}


def _parse_local_time(text: str) -> datetime | None:
    """Return the local time entered in the schedule form's datetime-local field, or None for an invalid date or time."""
    try:
        local_time = datetime.fromisoformat(text) if _LOCAL_TIME.fullmatch(text) else None
    except ValueError:  # well-formed, but no valid date or time
        return None
    return local_time if local_time and local_time.year in ALLOWED_YEARS else None


def _describe_instant(instant: datetime, zone: ZoneInfo) -> str:
    local = instant.astimezone(zone)
    return f"{local:%H:%M} {local:%Z} ({instant.astimezone(UTC):%H:%M} UTC)"
