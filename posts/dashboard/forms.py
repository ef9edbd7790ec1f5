"""Forms of posts: when one goes out, and the options of a platform as its JSON Schema tells them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms

from config.api.errors import MalformedRequest
from config.api.request_body import parse_json
from posts.dashboard.inputs import plain
from posts.dashboard.local_time import after_the_jump, instants_of

WALL = "%Y-%m-%dT%H:%M"
YEARS = range(1970, 2201)
_WALL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
_BOOLEAN = (("", "Not set"), ("true", "Yes"), ("false", "No"))


class ScheduleForm(forms.Form):
    """A time on the workspace's clocks; where it comes twice, `which` of the two is asked for."""

    when = forms.CharField(
        label="When it goes out",
        widget=forms.TextInput({"type": "datetime-local"}),
        error_messages={"required": "Choose the day and time."},
    )
    which = forms.ChoiceField(
        label="The clocks are set back over this time, so it comes twice", widget=forms.RadioSelect
    )

    def __init__(self, data: Any = None, *, zone: ZoneInfo, at: datetime | None = None, required: bool = False) -> None:
        local = at.astimezone(zone) if at else None
        initial = {"when": local.strftime(WALL), "which": str(local.fold)} if local else {}
        super().__init__(data, initial=initial)
        self.zone, self._before = zone, at
        self.fields["when"].required = required
        self.fields["when"].help_text = f"In {zone.key}, the workspace's time zone."
        self.wall = _read(str(self["when"].value() or ""))
        self.instants = instants_of(self.wall, zone) if self.wall else []
        if len(self.instants) == 2:
            first, second = (_named(each, zone) for each in self.instants)
            named = [("0", f"The first time, {first}"), ("1", f"The second time, {second}")]
            self.fields["which"].choices = named  # type: ignore[attr-defined]
        else:
            del self.fields["which"]

    @property
    def at(self) -> datetime | None:
        """The instant that was written in a form without mistakes; one that was left as it was keeps its seconds."""
        if not self.instants:
            return None
        at = self.instants[int(self.cleaned_data.get("which", 0))]
        kept = self._before is not None and self._before.replace(second=0, microsecond=0) == at
        return self._before if kept else at

    def clean_when(self) -> str:
        written = str(self.cleaned_data["when"])
        if written and self.wall is None:
            raise forms.ValidationError("Write a day and a time, such as 2027-01-31T09:00.")
        if self.wall is not None and not self.instants:
            later = after_the_jump(self.wall, self.zone)
            raise forms.ValidationError(
                f"The clocks are set forward over this time, so it never comes. Did you mean {later:%H:%M}?"
            )
        return written


class OptionsForm(forms.Form):
    """A target's options, as far as its platform's schema has plain values for them: texts, choices, numbers, yes or no.

    The others are kept as they are, in JSON.
    """

    use_required_attribute = False  # a draft may lack what the platform requires; the validation tells
    kept = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, schema: Mapping[str, Any], data: Any = None, *, prefix: str, options: Mapping[str, Any]) -> None:
        super().__init__(data, prefix=prefix)
        required = schema.get("required", ())
        for name, rule in schema.get("properties", {}).items():
            field = _field(rule, required=name in required)
            if field and not isinstance(options.get(name), dict | list):  # of which no field shows the whole
                field.label = name.replace("_", " ").capitalize()
                field.help_text = rule.get("description", "")
                self.fields[name] = field
        self.others = {name: value for name, value in options.items() if name not in self.fields}
        self.initial = {name: _written(value) for name, value in options.items()}
        self.initial["kept"] = json.dumps(self.others) if self.others else ""

    @property
    def options(self) -> dict[str, Any]:
        """What was sent, in the schema's types; what is not of its type stays as it was written, for the validation."""
        self.is_valid()
        values = {name: self.cleaned_data.get(name, self[name].value()) for name in self.fields}
        kept = _object(values.pop("kept") or "")
        given = {name: plain(value) if isinstance(value, str) else value for name, value in values.items()}
        return kept | {name: value for name, value in given.items() if value is not None and value != ""}


def _field(rule: Mapping[str, Any], *, required: bool) -> forms.Field | None:
    """The field of a plain value; None for arrays and objects. Of alternatives, that of the first with a field."""
    if "anyOf" in rule:
        fields = (_field(each, required=required) for each in rule["anyOf"])
        return next((field for field in fields if field), None)
    if "enum" in rule:
        values = {str(value): value for value in rule["enum"]}
        return forms.TypedChoiceField(
            choices=[("", "Not set"), *((text, text) for text in values)],
            coerce=values.__getitem__,
            empty_value=None,
            required=required,
        )
    match rule.get("type"):
        case "boolean":
            return forms.TypedChoiceField(choices=_BOOLEAN, coerce="true".__eq__, empty_value=None, required=required)
        case "integer":
            bounds = {"min": rule.get("minimum"), "max": rule.get("maximum")}
            shown = {name: bound for name, bound in bounds.items() if bound is not None}
            return forms.IntegerField(required=required, widget=forms.NumberInput(shown))
        case "string":
            limit = {"maxlength": rule["maxLength"]} if "maxLength" in rule else {}
            return forms.CharField(required=required, widget=forms.TextInput(limit))
    return None


def _written(value: Any) -> Any:
    """An option's value as its field writes it."""
    return str(value).lower() if isinstance(value, bool) else value


def _object(text: str) -> dict[str, Any]:
    """The JSON object of a hidden field; nothing for what is none."""
    try:
        value = parse_json(text.encode()) if text else {}
    except MalformedRequest:
        return {}
    return value if isinstance(value, dict) else {}


def _read(written: str) -> datetime | None:
    """The naive time of a field of type datetime-local, or None."""
    try:
        wall = datetime.fromisoformat(written) if _WALL.fullmatch(written) else None
    except ValueError:  # the form of a time, but there is no such time
        return None
    return wall if wall and wall.year in YEARS else None


def _named(instant: datetime, zone: ZoneInfo) -> str:
    local = instant.astimezone(zone)
    return f"{local:%H:%M} {local:%Z} ({instant.astimezone(UTC):%H:%M} UTC)"
