"""A GET that can be previewed is a write: previews, keys and refusals work for it as for a POST."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import RequestFactory
from rest_framework import serializers

from auditlog.models import AuditEntry
from config.api import fields
from config.api.errors import Conflict
from config.api.operation import Call, DryRunQuery, DryRunReply, Reply, operation
from config.api.plan import ResourcePlan, accept_plan
from config.api.policies import Access, Idempotency
from config.api.serializers import dry_run_serializer_class
from config.api.views import OperationViewSet
from tests import factories
from workspaces.models import Workspace


class StampQuery(DryRunQuery):
    """The query of the test operation."""

    text = fields.Text()


class StampSerializer(serializers.Serializer):
    number = serializers.IntegerField(allow_null=True)


class StampViewSet(OperationViewSet):
    """A test viewset that counts its writes."""

    written: list[str] = []

    @operation(
        "stamps.make",
        summary="Stamp",
        access=Access("posts.read"),
        query=StampQuery,
        responses={200: StampSerializer},
        preview=dry_run_serializer_class("Stamp", would_create=StampSerializer),
        idempotency=Idempotency("lease"),
    )
    def make(self, call: Call) -> Reply | DryRunReply:
        if call.query["text"] == "bad":
            raise Conflict()
        accept_plan(ResourcePlan("stamps.make", "", None, {"text": call.query["text"]}))
        if call.dry_run:
            return DryRunReply({}, {"number": None}, "would_create")
        self.written.append(call.query["text"])
        return Reply({"number": len(self.written)})


@pytest.fixture
def stamp(workspace: Workspace) -> Any:
    """Call the test operation with an API key of the workspace."""
    StampViewSet.written.clear()
    headers = {"authorization": f"Bearer {factories.workspace_key(workspace)}"}
    view = StampViewSet.as_view({"get": "make"})

    def ask(query: str, **more: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return view(RequestFactory().get(f"/stamps?{query}", headers={**headers, **named}))

    return ask


def test_a_preview_writes_nothing(stamp: Any) -> None:
    answer = stamp("text=a&dry_run=true", idempotency_key="k")

    assert (answer.status_code, json.loads(answer.content)["operation"], json.loads(answer.content)["would_create"]) == (
        200,
        "stamps.make",
        {"number": None},
    )
    assert StampViewSet.written == []
    assert json.loads(stamp("text=a", idempotency_key="k").content) == {"number": 1}


def test_a_key_replays_the_first_answer(stamp: Any) -> None:
    first, again, other = (stamp(f"text={text}", idempotency_key="k") for text in "aab")

    assert {answer.content for answer in (first, again, other)} == {b'{"number":1}'}
    assert StampViewSet.written == ["a"]
    assert [answer.get("Idempotency-Replayed") for answer in (first, again, other)] == [None, "true", "true"]
    assert [answer.get("Idempotency-Request-Differs") for answer in (again, other)] == [None, "true"]


def test_a_refusal_is_recorded_in_the_audit_log(stamp: Any) -> None:
    assert stamp("text=bad").status_code == 409
    assert stamp("text=bad&dry_run=true").status_code == 409

    assert list(AuditEntry.objects.order_by("id").values_list("operation", "code", "dry_run")) == [
        ("stamps.make", "CONFLICT", False),
        ("stamps.make", "CONFLICT", True),
    ]
