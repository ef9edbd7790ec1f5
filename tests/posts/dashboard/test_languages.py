"""The pages of posts in German and Spanish."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse
from django.utils import translation

from accounts.dashboard.option_names import OPTION_NAMES, VALUE_NAMES
from accounts.models import ConnectedAccount
from accounts.platforms.registry import PLATFORMS, get_adapter
from accounts.platforms.thread_option import OPTION_NAME as THREAD
from posts.dashboard.series_rule import rule_in_words
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.dashboard.dashboard import Dashboard, words
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, group_with_target
from workspaces.models import Workspace

HEADINGS = {
    "calendar": "März 2027",
    "posts": "Alle Beiträge",
    "missed": "Verpasste Beiträge",
    "approvals": "Freigaben",
    "series": "Serien",
    "calendar-feeds": "Kalender-Feeds",
    "post-files": "Import und Export",
    "publishing-preference": "Rückgängig machen nach dem Veröffentlichen",
}


@pytest.mark.parametrize(("language", "title"), [("de", "Neuer Beitrag"), ("es", "Nueva publicación"), ("ar", "New post")])
def test_the_composer_is_in_the_language_of_the_browser(
    dashboard: Dashboard, account: ConnectedAccount, language: str, title: str
) -> None:
    page = dashboard.http.get(dashboard.address("compose"), headers={"Accept-Language": language})
    assert f"<h1>{title}</h1>" in page.content.decode()


@pytest.mark.parametrize(("page", "heading"), HEADINGS.items())
def test_other_pages_are_in_german(dashboard: Dashboard, page: str, heading: str) -> None:
    shown = dashboard.http.get(dashboard.address(page), headers={"Accept-Language": "de"})
    assert shown.status_code == 200
    assert f"<h1>{heading}</h1>" in shown.content.decode()


def test_what_is_missing_is_named_in_german(dashboard: Dashboard) -> None:
    path = reverse("series-one", args=[dashboard.workspace.id, "ser_00000000000000000000000000"])
    shown = dashboard.http.get(path, headers={"Accept-Language": "de"})
    assert shown.status_code == 404
    assert "Es gibt keine solche Serie." in words(shown)


def test_what_is_wrong_with_a_post_is_in_german(dashboard: Dashboard, workspace: Workspace) -> None:
    account = AccountFactory.create(workspace=workspace, platform="x")
    fields = {f"{account.id}-poll.choices": "Eins", f"{account.id}-poll.duration_minutes": "60"}
    sent = {"action": "check", "key": "k", "account": account.id, "text": "Lang " * 100, **fields}
    page = words(dashboard.http.post(dashboard.address("compose"), sent, headers={"Accept-Language": "de"}))

    for sentence in (
        "zu lang für X",
        "Bieten Sie 2 bis 4 Antworten an.",
        "Antworten (erforderlich)",
        "Eine Angabe pro Zeile.",
        "Dauer in Minuten (erforderlich)",
        "Zur Wahl stehen 2 bis 4 Antworten mit jeweils höchstens 25 Zeichen.",
        "5 Minuten bis 7 Tage. Ein Tag hat 1440 Minuten.",
    ):
        assert sentence in page


def test_an_empty_post_is_refused_in_german(dashboard: Dashboard, account: ConnectedAccount) -> None:
    sent = {"action": "check", "key": "k", "account": account.id, "text": ""}
    page = dashboard.http.post(dashboard.address("compose"), sent, headers={"Accept-Language": "de"})
    assert "Der Beitrag hat weder Text noch Medien." in words(page)


@pytest.mark.parametrize(("count", "ending"), [(1, "1-mal"), (3, "3-mal")])
def test_a_rule_with_a_count_is_in_german(count: int, ending: str) -> None:
    with translation.override("de"):
        assert rule_in_words(f"FREQ=DAILY;COUNT={count}", ZoneInfo("UTC")) == f"Jeden Tag, {ending}"


def test_a_week_has_the_german_point_after_both_days(dashboard: Dashboard) -> None:
    week = {"view": "week", "date": "2027-03-10"}
    page = dashboard.http.get(dashboard.address("calendar"), week, headers={"Accept-Language": "de"})
    assert "<h1>8. – 14. März 2027</h1>" in page.content.decode()


def test_fields_for_days_keep_the_format_that_browsers_expect(dashboard: Dashboard) -> None:
    page = dashboard.http.get(dashboard.address("post-files"), headers={"Accept-Language": "de"}).content.decode()
    assert 'type="date" name="first" value="20' in page


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("de", "Alle 2 Monate am letzten Montag, bis 31. Januar 2027"),
        ("es", "Cada 2 meses el último lunes, hasta el 31 de enero de 2027"),
    ],
)
def test_a_rule_of_a_series_is_a_sentence_of_the_language(language: str, sentence: str) -> None:
    with translation.override(language):
        rule = "FREQ=MONTHLY;INTERVAL=2;BYDAY=-1MO;UNTIL=20270131T225959Z"
        assert rule_in_words(rule, ZoneInfo("Europe/Berlin")) == sentence


def test_options_of_platforms_and_their_values_are_words(dashboard: Dashboard, workspace: Workspace) -> None:
    account = AccountFactory.create(workspace=workspace, platform="mastodon")
    page = dashboard.http.get(dashboard.address("compose"), {"account": account.id}).content.decode()
    assert '<option value="unlisted">Everybody, but not in public timelines</option>' in page
    assert "Content warning" in page

    sent = {"account": account.id}
    page = dashboard.http.get(dashboard.address("compose"), sent, headers={"Accept-Language": "de"}).content.decode()
    assert '<option value="direct">Nur erwähnte Personen</option>' in page


def rules_of_parts(schema: Mapping[str, Any], name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rule of each option, and of each part of an option, that the composer shows; by name."""
    for part, rule in schema.get("properties", {}).items():
        if part != THREAD:
            yield part, rule
            yield from rules_of_parts(rule, part)
    for rule in schema.get("anyOf", ()):
        yield name, rule
        yield from rules_of_parts(rule, name)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_option_and_each_of_its_values_has_a_name(platform: str) -> None:
    for name, rule in rules_of_parts(get_adapter(platform).capabilities.options):
        assert name in OPTION_NAMES
        if name != "parse_mode":  # HTML and MarkdownV2 are names already
            assert set(rule.get("enum", ())) <= VALUE_NAMES.get(name, {}).keys()


@pytest.mark.parametrize(
    ("platform", "options", "shown"),
    [
        ("tiktok", {"privacy_level": "SELF_ONLY"}, "TikTok: Wer es sehen darf Nur Sie"),
        ("bluesky", {"link_card": "none"}, "Bluesky: Linkkarte Keine Karte"),
        ("bluesky", {"link_card": {"title": "auto"}}, "Bluesky: Linkkarte Titel: auto"),
        ("x", {"poll": {"choices": ["A", "B"], "duration_minutes": 60}}, "X: Umfrage Antworten: A, B; Dauer in Minuten: 60"),
    ],
)
def test_the_options_of_a_post_are_words_of_the_language(
    dashboard: Dashboard, workspace: Workspace, platform: str, options: dict[str, Any], shown: str
) -> None:
    group = group_with_target(workspace, None, "draft")
    account = AccountFactory.create(workspace=workspace, platform=platform)
    group.targets.update(account=account, platform=platform, options=options)
    page = dashboard.http.get(dashboard.address("post", group), headers={"Accept-Language": "de"})
    assert shown in words(page)


@pytest.mark.parametrize(
    ("language", "sentence", "advice"),
    [
        ("de", "Die Sandbox lehnt diesen Beitrag ab", "Ändern Sie den Beitrag und senden Sie ihn dann erneut."),
        ("es", "El sandbox rechaza esta publicación", "Cambie la publicación y envíela de nuevo."),
    ],
)
def test_why_a_platform_refused_a_post_is_said_in_the_language(
    dashboard: Dashboard, api: ApiClient, account: ConnectedAccount, language: str, sentence: str, advice: str
) -> None:
    group = create(api, account, text="[sandbox:reject]")
    run_until_idle()

    page = words(dashboard.http.get(dashboard.address("post", group), headers={"Accept-Language": language}))

    assert sentence in page
    assert advice in page


def test_what_is_wrong_with_the_rule_of_a_series_is_in_german(dashboard: Dashboard, account: ConnectedAccount) -> None:
    start = {"day": "2027-03-09", "time": "09:00", "timezone": "Europe/Berlin"}
    entered = {"preview": "1", "key": "k", "text": "Hallo", "accounts": [account.id], **start}
    rule = {"repeats": "other", "rrule": "FREQ=DAILY;BYMONTH=13", "interval": "1", "ends": "never"}
    page = dashboard.http.post(dashboard.address("series-new"), entered | rule, headers={"Accept-Language": "de"})

    assert page.status_code == 422
    assert "Regel: BYMONTH muss Zahlen von 1 bis 12 enthalten." in words(page)


def test_why_a_connection_lacks_a_comment_is_in_german(dashboard: Dashboard, workspace: Workspace) -> None:
    account = AccountFactory.create(
        workspace=workspace, platform="linkedin", external_id="urn:li:person:1", scopes=["w_member_social"]
    )
    hidden = {f"{account.id}-unshown": json.dumps({"first_comment": "Zuerst"})}
    sent = {"action": "check", "key": "k", "account": account.id, "text": "Hallo", **hidden}
    page = words(dashboard.http.post(dashboard.address("compose"), sent, headers={"Accept-Language": "de"}))

    assert "LinkedIn lässt dieses Konto nur mit dem Scope w_member_social_feed kommentieren" in page
    assert "Lassen Sie den ersten Kommentar weg." in page
