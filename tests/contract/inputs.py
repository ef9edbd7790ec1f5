"""Generates the minimal valid input of any operation."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import urlencode

from rest_framework import serializers

from accounts.serializers.slots import TimeOfDayField
from config.api import fields
from config.api.operation import SAFE_METHODS
from config.db.ids import new_id
from tests.conftest import ApiClient
from tests.contract.routes import Route
from tests.media.pictures import jpeg

PREFIX_OF = {
    "workspace_id": "wrk",
    "user_id": "usr",
    "agent_id": "agt",
    "api_key_id": "key",
    "account_id": "acc",
    "media_id": "med",
    "post_group_id": "pgr",
    "plan_id": "pln",
    "series_id": "ser",
    "feed_id": "cal",
    "delivery_id": "dlv",
}
EXAMPLES: dict[type[serializers.Field], Any] = {
    fields.Timestamp: "2027-03-10T12:00:00Z",
    fields.LocalTime: "2027-03-10T12:00",
    fields.Timezone: "Europe/Berlin",
    TimeOfDayField: "09:30",
    fields.Boolean: False,
    fields.Integer: 1,
    serializers.DictField: {},
    serializers.DateField: "2027-03-10",
}
# What forms ask for beyond their required fields: one of two.
EITHER: dict[str, dict[str, Any]] = {
    "posts.resolve": {"published": False},
    "plans.create": {"operation": "posts.cancel"},
    "media.upload": {"content_base64": base64.b64encode(jpeg()).decode()},
}


class Ids(dict[str, str]):
    """Maps id prefixes to ids; others get an id that does not exist."""

    def __missing__(self, prefix: str) -> str:
        return self.setdefault(prefix, new_id(prefix))


def path_of(route: Route, ids: Ids) -> str:
    return route.at({name: ids[PREFIX_OF[name]] for name in route.parameters})


def query_of(route: Route, ids: Ids) -> dict[str, Any]:
    return _least(route.operation.query(), ids)


def body_of(route: Route, ids: Ids) -> dict[str, Any]:
    if route.operation.body.serializer is None:
        return {}
    return {**_least(route.operation.body.serializer(), ids), **EITHER.get(route.operation.name, {})}


def prefixes_in(route: Route) -> set[str]:
    """Return the prefixes of all ids in the operation's input."""
    met = Ids()
    path_of(route, met), query_of(route, met), body_of(route, met)
    return set(met)


def send(client: ApiClient, route: Route, ids: Ids) -> tuple[int, str]:
    """Send a request; return (status, body) with ids replaced by prefixes and without the trace id."""
    body = None if route.method in SAFE_METHODS else body_of(route, ids)
    answer = client.request(route.method, f"{path_of(route, ids)}?{urlencode(query_of(route, ids))}", body)
    text = json.dumps({name: value for name, value in answer.json().items() if name != "trace_id"})
    for prefix, value in ids.items():
        text = text.replace(value, prefix)
    return answer.status_code, text


def _least(serializer: serializers.Serializer, ids: Ids) -> dict[str, Any]:
    """Return values for the serializer's required fields and all ids."""
    return {
        name: _example(field, ids)
        for name, field in serializer.fields.items()
        if field.required or isinstance(field, fields.Identifier)
    }


def _example(field: serializers.Field, ids: Ids) -> Any:
    if isinstance(field, fields.Identifier):
        return ids[field.prefix]
    if isinstance(field, serializers.ListField):
        return [_example(field.child, ids)]
    if isinstance(field, serializers.Serializer):
        return _least(field, ids)
    if isinstance(field, serializers.ChoiceField):
        return next(iter(field.choices))
    return next((value for cls, value in EXAMPLES.items() if isinstance(field, cls)), "text")
