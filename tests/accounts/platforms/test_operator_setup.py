"""The setup by the operator that a platform describes is what its adapter reads from the settings."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.platforms.operator_setup import PlatformApplication
from accounts.platforms.registry import PLATFORMS, all_adapters, get_adapter
from config.environment import BASE_DIR, read_platform_settings

APPLICATIONS = [
    pytest.param(made.name, application, id=f"{made.name}: {application.connects}")
    for made in all_adapters()
    for application in made.setup.applications
]
every_application = pytest.mark.parametrize(("name", "application"), APPLICATIONS)


@pytest.mark.parametrize("name", PLATFORMS)
def test_each_method_says_what_owners_need(name: str) -> None:
    made = get_adapter(name)
    assert set(made.setup.owner_brings) == set(made.methods)
    assert all(sentence.endswith(".") for sentence in made.setup.owner_brings.values())


@pytest.mark.parametrize("name", PLATFORMS)
def test_platforms_without_required_settings_have_no_application(name: str, settings: Any) -> None:
    settings.PLATFORM_SETTINGS = {}
    made = get_adapter(name)
    for method in made.methods:
        assert bool(made.setup.required_applications_for_method(method)) is (made.unavailable_reason(method) is not None)


@every_application
def test_accounts_can_be_connected_once_the_settings_of_an_application_are_set(
    name: str, application: PlatformApplication, settings: Any
) -> None:
    given = dict.fromkeys(application.settings, "a value")
    for missing in given:
        settings.PLATFORM_SETTINGS = {setting: value for setting, value in given.items() if setting != missing}
        assert missing in (get_adapter(name).unavailable_reason("oauth") or "")

    settings.PLATFORM_SETTINGS = given
    assert get_adapter(name).unavailable_reason("oauth") is None


@every_application
def test_owners_are_asked_for_the_scopes_of_the_application(
    name: str, application: PlatformApplication, settings: Any
) -> None:
    settings.PLATFORM_SETTINGS = dict.fromkeys(application.settings, "a value")
    address = get_adapter(name).begin_oauth(state="a state", redirect_uri="https://posts.example/back", given={}).url

    [scope] = parse_qs(urlsplit(address).query)["scope"]
    assert re.split("[ ,]", scope) == list(application.scopes)


@every_application
def test_settings_of_applications_are_read_from_the_environment_and_documented(
    name: str, application: PlatformApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = (Path(BASE_DIR) / "README.md").read_text()
    for setting in (*application.settings, *application.more_settings):
        monkeypatch.setenv(setting, "a value")
        assert read_platform_settings()[setting] == "a value"
        patterns = (setting, re.sub(f"^{name.upper()}_", "<PLATFORM>_", setting))
        assert any(f"`{pattern}`" in described for pattern in patterns)


@every_application
def test_further_settings_of_an_application_are_read_by_the_adapter(
    name: str, application: PlatformApplication, settings: Any
) -> None:
    read: set[str] = set()

    class Recorded(dict[str, str]):
        def get(self, setting: str, default: Any = None) -> Any:
            read.add(setting)
            return super().get(setting, default)

    settings.PLATFORM_SETTINGS = Recorded(dict.fromkeys(application.settings, "a value"))
    made = get_adapter(name)
    made.begin_oauth(state="a state", redirect_uri="https://posts.example/back", given={})
    source = Path(inspect.getfile(type(made))).read_text()
    in_source = {f"{name.upper()}_{key}" for key in re.findall(r'setting\("(\w+)"', source)}
    assert {*application.more_settings} <= read | in_source


@every_application
def test_the_setup_is_written_in_sentences(name: str, application: PlatformApplication) -> None:
    assert application.portal.startswith("https://")
    assert application.products
    assert bool(application.review) is bool(application.without_review)
    sentences = [*application.products, *application.notes, application.review, application.without_review]
    assert all(sentence.endswith(".") and len(sentence) < 250 for sentence in sentences if sentence)


def test_platforms_without_an_application_use_credentials_or_register_by_a_call() -> None:
    assert {made.name for made in all_adapters() if not made.setup.applications} == {
        "bluesky",
        "mastodon",
        "telegram",
        "discord",
    }
