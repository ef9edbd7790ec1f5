"""GET /accounts/{id}/capabilities and GET /capabilities."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from jsonschema import Draft202012Validator

from accounts.models import ConnectedAccount
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.registry import PLATFORMS, all_adapters
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import FileLimits, ImageRules, MediaRules, VideoRules
from config.db.ids import new_id
from tests import factories
from tests.accounts.oauth_calls import begin
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User, Workspace

# What the API says of the capabilities of Bluesky, apart from options and sentences.
BLUESKY = {
    "text": {
        "max_length": 300,
        "max_length_with_media": None,
        "max_length_with_images": None,
        "max_length_with_poll": None,
        "counted_as": "graphemes",
        "url_length": None,
    },
    "media": {
        "max_count": 4,
        "max_total_bytes": None,
        "mixed": False,
        "required": False,
        "images": {
            "mime_types": ["image/jpeg", "image/png", "image/webp", "image/gif"],
            "max_bytes": 2_000_000,
            "max_count": 4,
            "max_pixels": None,
            "max_side_sum": None,
            "min_ratio": None,
            "max_ratio": None,
        },
        "gifs": None,
        "videos": {
            "mime_types": ["video/mp4"],
            "max_bytes": 100_000_000,
            "max_count": 1,
            "min_duration_seconds": None,
            "max_duration_seconds": 180,
        },
        "documents": None,
        "alt_text_max_length": 2000,
        "none_because": "",
    },
    "link_preview": "service",
    "thread": {"max_segments": 25, "distinct": False, "each_billed": False, "unproven": ""},
    "poll": None,
    "publishing": {"retry_safety": "idempotent"},
}


def names_of(rules: type) -> set[str]:
    return {field.name for field in dataclasses.fields(rules)}


def test_an_accounts_capabilities_are_its_platforms(api: ApiClient, account: ConnectedAccount) -> None:
    answer = api.get(f"/accounts/{account.id}/capabilities")

    body = answer.json()
    options = body["capabilities"].pop("options")
    features = body["capabilities"].pop("features")
    not_possible = body["capabilities"].pop("not_possible")
    assert answer.status_code == 200
    assert body == {"account_id": account.id, "platform": "bluesky", "capabilities": BLUESKY}
    assert "text" in features
    assert "A published post cannot be edited." in not_possible
    assert set(options["properties"]) == {"langs", "link_card", "thread"}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_capabilities_of_every_platform_have_the_same_structure(
    api: ApiClient, workspace: Workspace, platform: str
) -> None:
    account = factories.AccountFactory(workspace=workspace, platform=platform)

    body = api.get(f"/accounts/{account.id}/capabilities").json()

    shown = body["capabilities"]
    assert (body["account_id"], body["platform"]) == (account.id, platform)
    assert set(shown) == {
        "text",
        "media",
        "features",
        "link_preview",
        "not_possible",
        "options",
        "poll",
        "thread",
        "publishing",
    }
    limits = {"max_length", "max_length_with_media", "max_length_with_images", "max_length_with_poll"}
    assert set(shown["text"]) == {*limits, "counted_as", "url_length"}
    assert set(shown["media"]) == names_of(MediaRules)
    kinds = {"images": ImageRules, "gifs": ImageRules, "videos": VideoRules, "documents": FileLimits}
    for kind, rules in kinds.items():
        assert shown["media"][kind] is None or set(shown["media"][kind]) == names_of(rules)
    assert shown["thread"] is None or set(shown["thread"]) == names_of(ThreadRules)
    assert (shown["thread"] is not None) is ("thread" in shown["options"]["properties"])
    switches = {"switches", "count"}
    assert shown["poll"] is None or set(shown["poll"]) == (names_of(PollRules) - switches) | {"multiple"}
    assert shown["publishing"]["retry_safety"] in ("idempotent", "verifiable", "at_most_once")
    Draft202012Validator.check_schema(shown["options"])


def test_threads_are_unproven_on_x_alone(api: ApiClient, workspace: Workspace) -> None:
    shown = {}
    for platform in PLATFORMS:
        account = factories.AccountFactory(workspace=workspace, platform=platform)
        shown[platform] = api.get(f"/accounts/{account.id}/capabilities").json()["capabilities"]["thread"]

    assert [platform for platform, thread in shown.items() if thread and thread["unproven"]] == ["x"]
    assert shown["x"]["unproven"].startswith("Threads have not been tried on X yet. ")


def test_every_member_may_read(
    owner: User, teammate: User, account: ConnectedAccount, key_with: Callable[..., ApiClient]
) -> None:
    for client in (as_user(owner), as_user(teammate), key_with("accounts.read")):
        assert client.get(f"/accounts/{account.id}/capabilities").json()["account_id"] == account.id


def test_reading_needs_the_scope(account: ConnectedAccount, key_with: Callable[..., ApiClient]) -> None:
    answer = key_with("accounts.write").get(f"/accounts/{account.id}/capabilities")

    assert_envelope(answer, 403, "SCOPE_MISSING")


def test_foreign_missing_and_malformed_ids_get_the_same_answer(account: ConnectedAccount, stranger: User) -> None:
    foreign_key = ApiClient(factories.workspace_key(stranger.owned_workspaces.get()))

    for client in (as_user(stranger), foreign_key):
        bodies = [
            assert_envelope(client.get(f"/accounts/{one}/capabilities"), 404, "NOT_FOUND") | {"trace_id": ""}
            for one in (account.id, new_id("acc"), "acc_1")
        ]
        assert all(body == bodies[0] for body in bodies)


def test_any_caller_may_read_what_can_be_connected(
    owner: User, stranger: User, key_with: Callable[..., ApiClient], agent_client: Callable[..., ApiClient]
) -> None:
    clients = [as_user(owner), as_user(stranger), key_with("posts.read"), agent_client(["media.upload"])]
    answers = [client.get("/capabilities") for client in clients]

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    body = answers[0].json()
    assert set(body) == {"account_connections", "billing"}
    connections = [(each["provider"], each["method"]) for each in body["account_connections"]]
    assert connections == [(each.name, method) for each in all_adapters() for method in each.methods]
    assert body["billing"] == {
        "mode": "free_beta",
        "checkout_available": False,
        "portal_available": False,
        "available_plans": [],
    }
    assert_envelope(ApiClient().get("/capabilities"), 401, "UNAUTHENTICATED")


def test_an_unavailable_connection_has_a_reason_and_others_have_their_credentials_schema(api: ApiClient) -> None:
    for connection in api.get("/capabilities").json()["account_connections"]:
        always = {"provider", "method", "available", "not_possible", "operator_setup"}
        assert set(connection) - {"reason", "credentials_schema"} == always
        assert ("reason" in connection) is (not connection["available"])
        assert "credentials_schema" in connection or connection["method"] == "oauth"
        Draft202012Validator.check_schema(connection.get("credentials_schema", {}))


def test_each_connection_has_its_operator_setup(api: ApiClient) -> None:
    for connection in api.get("/capabilities").json()["account_connections"]:
        setup = connection["operator_setup"]
        assert connection["not_possible"]
        assert setup["owner_brings"].endswith(".")
        assert bool(setup["applications"]) is not connection["available"]  # nothing is set here
        for application in setup["applications"]:
            assert application["portal"].startswith("https://")
            assert all(name in connection["reason"] for name in application["settings"])


def test_the_redirect_uri_to_register_is_the_one_sent_to_the_platform(
    api: ApiClient, workspace: Workspace, settings: Any
) -> None:
    settings.PLATFORM_SETTINGS = {"X_CLIENT_ID": "the id", "X_CLIENT_SECRET": "the secret"}
    [application] = next(
        each["operator_setup"]["applications"]
        for each in api.get("/capabilities").json()["account_connections"]
        if each["provider"] == "x"
    )

    begun = begin(api, workspace, platform="x").json()

    assert parse_qs(urlsplit(begun["authorization_url"]).query)["redirect_uri"] == [application["redirect_uri"]]


@pytest.mark.parametrize(
    ("platform", "credentials", "required"),
    [
        ("bluesky", {"identifier", "app_password", "service"}, {"identifier", "app_password"}),
        ("mastodon", {"instance", "access_token"}, {"instance", "access_token"}),
        ("telegram", {"bot_token", "chat_id"}, {"bot_token", "chat_id"}),
        ("discord", {"webhook_url"}, {"webhook_url"}),
        ("slack", {"webhook_url"}, {"webhook_url"}),
    ],
)
def test_the_credentials_schemas_are_those_of_the_contract(
    api: ApiClient, platform: str, credentials: set[str], required: set[str]
) -> None:
    [connection] = [
        each
        for each in api.get("/capabilities").json()["account_connections"]
        if (each["provider"], each["method"]) == (platform, "credentials")
    ]

    schema = connection["credentials_schema"]
    assert (set(schema["properties"]), set(schema["required"])) == (credentials, required)
    assert schema["additionalProperties"] is False
