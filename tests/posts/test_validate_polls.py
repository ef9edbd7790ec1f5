"""The option `poll`: limits of each platform, issues, and how responses show it."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.platforms.registry import PLATFORMS, get_adapter
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_polls import PollLimits
from tests.posts.media_rows import media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, read
from workspaces.models import Workspace

POLLED = [name for name in PLATFORMS if get_adapter(name).capabilities.poll]
every_polled = pytest.mark.parametrize("name", POLLED)
ASKED = {"choices": ["The bench", "The lathe"], "duration_minutes": 60}
WHERE = "targets[0].options.poll"


def poll_body(workspace: Workspace, name: str, *, account: Any = None, more: Any = None, **poll: Any) -> dict[str, Any]:
    """The request body of a post with this poll to a sandbox account on the platform; `more` are fields of the body."""
    body = body_for(account or AccountFactory(workspace=workspace, platform=name), **(more or {}))
    poll = {key: value for key, value in {**ASKED, **poll}.items() if value is not None}
    body["targets"][0]["options"] = {"poll": poll}
    return body


def check(api: ApiClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post("/posts/validate", body)
    assert answer.status_code == 200, answer.content
    [target] = answer.json()["targets"]
    return dict(target)


def issues_of(api: ApiClient, body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(issue["code"], issue["field"]) for issue in check(api, body)["issues"]]


def codes_of(api: ApiClient, body: dict[str, Any]) -> list[str]:
    return [code for code, _ in issues_of(api, body)]


def test_capabilities_describe_polls_where_supported() -> None:
    assert POLLED == ["mastodon", "telegram", "discord", "x"]
    for name in PLATFORMS:
        capabilities = get_adapter(name).capabilities
        option = capabilities.options["properties"].get("poll")
        assert ("polls" in capabilities.features) is (option is not None) is (capabilities.poll is not None)
        if capabilities.poll:
            assert option["properties"]["choices"]["maxItems"] == capabilities.poll.max_choices
            assert ("multiple" in option["properties"]) is capabilities.poll.allows_multiple_answers
            assert ("duration_minutes" in option["required"]) is not capabilities.poll.open_ended


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("mastodon", (2, 4, 50, 5, 43_829, 1, False, True, True, False)),
        ("telegram", (1, 12, 100, 1, 43_800, 1, True, True, False, False)),
        ("discord", (1, 10, 55, 60, 46_080, 60, False, True, False, True)),
        ("x", (2, 4, 25, 5, 10_080, 1, False, False, False, False)),
    ],
)
def test_each_platforms_limits_are_in_its_capabilities(
    api: ApiClient, workspace: Workspace, name: str, limits: tuple[Any, ...]
) -> None:
    account = AccountFactory(workspace=workspace, platform=name)

    poll = api.get(f"/accounts/{account.id}/capabilities").json()["capabilities"]["poll"]

    assert limits == tuple(
        poll[key]
        for key in (
            *("min_choices", "max_choices", "max_choice_length", "min_duration_minutes", "max_duration_minutes"),
            *("duration_step_minutes", "open_ended", "multiple", "distinct", "with_media"),
        )
    )


@every_polled
def test_a_valid_poll_is_returned_normalized(api: ApiClient, workspace: Workspace, name: str) -> None:
    body = poll_body(workspace, name)

    target = check(api, body)
    planned = api.post("/posts", {**body, "dry_run": True}).json()

    assert target["issues"] == []
    assert target["poll"] == {**ASKED, "multiple": False}
    assert [each["poll"] for each in planned["validation"]["targets"]] == [target["poll"]]
    assert planned["would_create"]["targets"][0]["options"] == {"poll": ASKED}
    del body["targets"][0]["options"]["poll"]
    assert check(api, body)["poll"] is None


@every_polled
def test_polls_beyond_the_limits_are_refused(api: ApiClient, workspace: Workspace, name: str) -> None:
    rules = get_adapter(name).capabilities.poll
    assert rules is not None
    choices = [f"{number:a>{rules.max_choice_length}}" for number in range(rules.max_choices)]
    shortest, longest = rules.min_duration_minutes, rules.max_duration_minutes
    account = AccountFactory(workspace=workspace, platform=name)

    def codes(**asked: Any) -> list[tuple[str, str]]:
        return issues_of(api, poll_body(workspace, name, account=account, **asked))

    assert codes(choices=choices, duration_minutes=longest - longest % rules.duration_step_minutes) == []
    assert codes(choices=choices[: rules.min_choices], duration_minutes=shortest) == []
    assert codes(choices=[*choices, "more"]) == [("POLL_CHOICE_COUNT", f"{WHERE}.choices")]
    assert codes(choices=choices[: rules.min_choices - 1]) == [("POLL_CHOICE_COUNT", f"{WHERE}.choices")]
    assert codes(choices=["a", "b" + choices[0]]) == [("POLL_CHOICE_TOO_LONG", f"{WHERE}.choices[1]")]
    assert codes(choices=["a", " \n"]) == [("POLL_CHOICE_EMPTY", f"{WHERE}.choices[1]")]
    for minutes in (shortest - 1, longest + 1):
        assert codes(duration_minutes=minutes) == [("POLL_DURATION", f"{WHERE}.duration_minutes")]
    fits = [] if rules.open_ended else [("OPTIONS_INVALID", WHERE)]
    assert codes(duration_minutes=None) == fits


@pytest.mark.parametrize(
    ("name", "asked", "message", "advice"),
    [
        ("x", {"choices": ["a"]}, "The poll has 1 choice; x takes 2 to 4 choices.", "Offer 2 to 4 choices."),
        (
            "x",
            {"duration_minutes": 4},
            "The poll would be open for 4 minutes; x takes from 5 minutes to 7 days.",
            "Give a whole number of minutes from 5 to 10080.",
        ),
        (
            "discord",
            {"duration_minutes": 90},
            "The poll would be open for 90 minutes; discord takes from 1 hour to 32 days, in steps of 1 hour.",
            "Give a whole number of minutes from 60 to 46080, in steps of 60.",
        ),
        (
            "mastodon",
            {"choices": ["Tea", " Tea"]},
            "Choice 2 of the poll repeats an earlier one, which mastodon refuses.",
            "Write another text, or leave the choice out.",
        ),
    ],
)
def test_a_poll_issue_has_a_repair_hint(
    api: ApiClient, workspace: Workspace, name: str, asked: Any, message: str, advice: str
) -> None:
    body = poll_body(workspace, name, **asked)

    [issue] = check(api, body)["issues"]

    assert (issue["severity"], issue["message"]) == ("error", message)
    assert issue["repair_hint"]["explanation"] == advice
    refused = assert_envelope(api.post("/posts", body), 422, "CONTENT_INVALID")
    assert [each["field"] for each in refused["details"]] == [issue["field"]]


@every_polled
def test_the_repair_of_an_overlong_choice_fits(api: ApiClient, workspace: Workspace, name: str) -> None:
    body = poll_body(workspace, name, choices=["The bench", "Grüße aus der Werkstatt, " * 5])
    [issue] = check(api, body)["issues"]
    hint = issue["repair_hint"]
    assert (issue["code"], issue["auto_fixable"], hint["field"]) == ("POLL_CHOICE_TOO_LONG", True, issue["field"])

    body["targets"][0]["options"]["poll"]["choices"][1] = hint["value"]

    assert check(api, body)["issues"] == []


def test_choices_are_counted_as_the_platform_counts(api: ApiClient, workspace: Workspace) -> None:
    family = "👨\u200d👩\u200d👧"  # one grapheme, five characters
    assert issues_of(api, poll_body(workspace, "mastodon", choices=[family * 50, "b"])) == []
    assert issues_of(api, poll_body(workspace, "x", choices=[family * 5, "b"])) == []
    assert codes_of(api, poll_body(workspace, "x", choices=[family * 6, "b"])) == ["POLL_CHOICE_TOO_LONG"]


@pytest.mark.parametrize(("name", "taken"), [("mastodon", False), ("telegram", False), ("discord", True), ("x", False)])
def test_media_with_a_poll_need_support(api: ApiClient, workspace: Workspace, name: str, taken: bool) -> None:
    media = media_of(MediaAssetFactory(workspace=workspace), alt_text="A bench")

    found = issues_of(api, poll_body(workspace, name, more={"media": media}))

    assert found == ([] if taken else [("POLL_WITH_MEDIA", WHERE)])


@every_polled
def test_a_poll_needs_a_question_even_with_media(api: ApiClient, workspace: Workspace, name: str) -> None:
    media = media_of(MediaAssetFactory(workspace=workspace), alt_text="A bench")

    issues = check(api, poll_body(workspace, name, more={"text": " ", "media": media}))["issues"]

    assert [issue["message"] for issue in issues if issue["code"] == "TEXT_REQUIRED"] == ["The poll has no question."]


@pytest.mark.parametrize(("name", "most"), [("mastodon", 500), ("telegram", 300), ("discord", 300), ("x", 280)])
def test_the_question_has_a_length_limit(api: ApiClient, workspace: Workspace, name: str, most: int) -> None:
    account = AccountFactory(workspace=workspace, platform=name)
    fits = check(api, poll_body(workspace, name, account=account, more={"text": "a" * most}))
    assert (fits["text_limit"], fits["issues"]) == (most, [])

    body = poll_body(workspace, name, account=account, more={"text": "why not " * 100})
    [issue] = check(api, body)["issues"]
    assert (issue["code"], issue["field"]) == ("TEXT_TOO_LONG", "targets[0].text")
    assert ("as the question of a poll" in issue["message"]) is (most == 300)
    body["targets"][0]["text"] = issue["repair_hint"]["value"]
    assert check(api, body)["issues"] == []


@pytest.mark.parametrize(
    "poll",
    [
        "yes",
        [],
        {},
        {"choices": "Tea", "duration_minutes": 60},
        {"choices": [1, 2], "duration_minutes": 60},
        {"choices": ["a", "b"], "duration_minutes": "60"},
        {"choices": ["a", "b"], "duration_minutes": True},
        {"choices": ["a", "b"], "duration_minutes": 60, "quiz": True},
        {"choices": ["a", "b" * 1001], "duration_minutes": 60},
        {"choices": ["a", "b"], "duration_minutes": 60, "multiple": "yes"},
    ],
)
@every_polled
def test_malformed_polls_are_refused_by_the_schema(api: ApiClient, workspace: Workspace, name: str, poll: Any) -> None:
    body = poll_body(workspace, name)
    body["targets"][0]["options"] = {"poll": poll}

    assert set(codes_of(api, body)) == {"OPTIONS_INVALID"}


@pytest.mark.parametrize("minutes", [60.0, 0.0, -5.0, 1e300])
@every_polled
def test_a_duration_is_a_whole_number(api: ApiClient, workspace: Workspace, name: str, minutes: float) -> None:
    assert codes_of(api, poll_body(workspace, name, duration_minutes=minutes)) == ["POLL_DURATION"]


@pytest.mark.parametrize("name", [name for name in PLATFORMS if name not in POLLED])
def test_platforms_without_polls_refuse_a_poll(api: ApiClient, workspace: Workspace, name: str) -> None:
    target = check(api, poll_body(workspace, name))

    assert "OPTIONS_INVALID" in [issue["code"] for issue in target["issues"]]
    assert target["poll"] is None


def test_a_poll_may_begin_a_thread(api: ApiClient, workspace: Workspace) -> None:
    for name in ("mastodon", "x"):
        body = poll_body(workspace, name)
        body["targets"][0]["options"]["thread"] = [{"text": "Vote above."}]
        assert issues_of(api, body) == []


def test_a_poll_with_other_choices_is_not_a_duplicate(api: ApiClient, workspace: Workspace, clock: Any) -> None:
    body = poll_body(workspace, "x")
    assert api.post("/posts", body).status_code == 201
    assert codes_of(api, body) == ["DUPLICATE_CONTENT"]

    body["targets"][0]["options"]["poll"] = {**ASKED, "choices": ["Tea", "Coffee"]}

    assert issues_of(api, body) == []


def test_the_limits_of_an_accounts_own_server_apply(api: ApiClient, workspace: Workspace) -> None:
    with FakeMastodon() as server:
        server.set_poll_limits(PollLimits(6, 80, 60, 86_400))
        credentials = {"instance": server.url, "access_token": server.add_account("alice")}
        asked = {"workspace_id": workspace.id, "platform": "mastodon", "credentials": credentials}
        account = api.post("/accounts/connect", asked).json()["account"]
        capabilities = api.get(f"/accounts/{account['id']}/capabilities").json()["capabilities"]
    six = [f"{number:b>80}" for number in range(6)]
    target = {"platform": "mastodon", "connected_account_id": account["id"]}

    def found(**poll: Any) -> list[tuple[str, str]]:
        options = {"poll": {**ASKED, **poll}}
        return issues_of(api, {"text": "What next?", "targets": [{**target, "options": options}]})

    assert (capabilities["poll"]["max_choices"], capabilities["poll"]["max_duration_minutes"]) == (6, 1440)
    Draft202012Validator.check_schema(capabilities["options"])
    assert found(choices=six, duration_minutes=1) == []
    assert found(duration_minutes=1441) == [("POLL_DURATION", f"{WHERE}.duration_minutes")]


@every_polled
def test_a_poll_is_published_in_the_sandbox(api: ApiClient, workspace: Workspace, name: str) -> None:
    group = api.post("/posts", poll_body(workspace, name)).json()["post_group"]

    run_until_idle()

    assert read(api, group)["status"] == "published"
