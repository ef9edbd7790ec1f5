"""Limits on the CPU time of one request: texts, options and batches designed to be expensive."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS
from config.api import request_limits
from posts.models import PostGroup
from posts.serializers.requests import MAX_TARGETS
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.hostile.texts import LENGTH, SHAPES, hostile_text
from tests.posts.calls import batch
from tests.posts.rows import body_for
from workspaces.models import Workspace

CPU_SECONDS = 5.0  # a tenth of it is usual for any request here; what is not linear takes minutes


@pytest.fixture
def accounts_on_all_platforms(workspace: Workspace) -> list[ConnectedAccount]:
    """A sandbox account on each platform."""
    return [AccountFactory(workspace=workspace, platform=name) for name in PLATFORMS]


@contextmanager
def limited_cpu_time() -> Iterator[None]:
    began = time.thread_time()
    yield
    assert time.thread_time() - began < CPU_SECONDS


def utf8(body: dict[str, Any]) -> bytes:
    """The body as JSON without escapes, which would exceed the size limit."""
    return json.dumps(body, ensure_ascii=False).encode()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_text_is_checked_for_every_platform_within_the_cpu_limit(
    api: ApiClient, accounts_on_all_platforms: list[ConnectedAccount], shape: str
) -> None:
    text = hostile_text(shape)
    assert len(text) == LENGTH

    with limited_cpu_time():
        answer = api.post("/posts/validate", utf8(body_for(*accounts_on_all_platforms, text=text)))

    assert answer.status_code in (200, 413), answer.content[:300]  # 413: the longest characters, over 1 MB
    for target in answer.json().get("targets", ()):
        [too_long] = [issue for issue in target["issues"] if issue["code"] == "TEXT_TOO_LONG"][:1] or [None]
        assert (too_long is not None) or target["text_length"] <= target["text_limit"]


def test_a_text_is_counted_once_for_targets_with_the_same_rules(api: ApiClient, workspace: Workspace) -> None:
    """Fifty targets on the platform with the slowest counting take about as long as one."""
    accounts = [
        AccountFactory(workspace=workspace, platform="x", sandbox=False, external_id=f"x-{number}")
        for number in range(MAX_TARGETS)
    ]

    with limited_cpu_time():
        answer = api.post("/posts/validate", utf8(body_for(*accounts, text=hostile_text("IDN domains"))))

    assert {target["text_length"] for target in answer.json()["targets"]} == {answer.json()["targets"][0]["text_length"]}


@pytest.mark.parametrize("options", [{"title": "a" * 900_000 + "<"}, {"title": " " * 900_000}, {"tags": ["<"] * 150_000}])
def test_overlong_options_are_refused_within_the_cpu_limit(
    api: ApiClient, workspace: Workspace, options: dict[str, Any]
) -> None:
    body = body_for(AccountFactory(workspace=workspace, platform="youtube"))
    body["targets"][0]["options"] = options
    [field] = options

    with limited_cpu_time():
        answer = api.post("/posts/validate", body)
        refused = api.post("/posts", body)

    issues = [issue for issue in answer.json()["targets"][0]["issues"] if issue["code"] == "OPTIONS_INVALID"]
    assert [issue["field"] for issue in issues] == [f"targets[0].options.{field}"]
    assert len(answer.content) < 5000
    assert f"targets[0].options.{field}" in [
        row["field"] for row in assert_envelope(refused, 422, "CONTENT_INVALID")["details"]
    ]
    assert not PostGroup.objects.exists()


def test_segments_beyond_the_maximum_are_refused_without_being_counted(api: ApiClient, workspace: Workspace) -> None:
    body = body_for(AccountFactory(workspace=workspace, platform="x"))
    body["targets"][0]["options"] = {"thread": [{"text": ""}] * 60_000}

    with limited_cpu_time():
        answer = api.post("/posts/validate", body)

    issues = answer.json()["targets"][0]["issues"]
    assert [issue["field"] for issue in issues if issue["code"] == "OPTIONS_INVALID"] == ["targets[0].options.thread"]
    assert len(issues) == 10  # and nine empty segments


def test_a_segment_longer_than_the_longest_text_is_refused(api: ApiClient, workspace: Workspace) -> None:
    body = body_for(AccountFactory(workspace=workspace, platform="x"))
    body["targets"][0]["options"] = {"thread": [{"text": "a." * 50_001}]}

    with limited_cpu_time():
        answer = api.post("/posts/validate", body)

    [issue] = answer.json()["targets"][0]["issues"]
    assert (issue["code"], issue["field"]) == ("OPTIONS_INVALID", "targets[0].options.thread[0].text")


def test_a_batch_of_hostile_texts_is_checked_within_the_cpu_limit(
    api: ApiClient, accounts_on_all_platforms: list[ConnectedAccount]
) -> None:
    posts = [body_for(*accounts_on_all_platforms, text=hostile_text("IDN domains", 5000), draft=True) for _ in range(10)]

    with limited_cpu_time():
        answer = batch(api, *posts, dry_run=True)

    assert answer.status_code == 201, answer.content[:300]


@pytest.mark.parametrize("path", ["/posts/validate", "/posts", "/posts/batch"])
def test_a_request_that_takes_too_much_cpu_time_is_refused(
    api: ApiClient, accounts_on_all_platforms: list[ConnectedAccount], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    body = body_for(*accounts_on_all_platforms, text=hostile_text("IDN domains"))
    monkeypatch.setattr(request_limits, "REQUEST_CPU_SECONDS", 0.01)

    answer = api.post(path, utf8({"posts": [body]} if path == "/posts/batch" else body))

    error = assert_envelope(answer, 413, "PAYLOAD_TOO_LARGE")
    assert error["suggested_action"] == "Send fewer posts or shorter texts."
    assert not PostGroup.objects.exists()
