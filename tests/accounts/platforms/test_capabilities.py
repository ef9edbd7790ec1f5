"""What every platform of the registry declares."""

from __future__ import annotations

import re

import pytest
from jsonschema import Draft202012Validator

from accounts.platforms.counting import code_point_length, has_url_by_x_rules
from accounts.platforms.instagram.capabilities import count_hashtags, count_mentions
from accounts.platforms.registry import PLATFORMS, all_adapters, get_adapter
from accounts.platforms.types import AccountLimitsAndScopes
from accounts.platforms.x.capabilities import count_cashtags

every_platform = pytest.mark.parametrize("name", PLATFORMS)
CREDENTIALS = {
    "mastodon": {"instance": "mastodon.example", "access_token": "t"},
    "telegram": {"bot_token": "123:abc_DEF-1", "chat_id": "-1001234567890"},
    "discord": {"webhook_url": "https://discord.com/api/webhooks/1/t"},
    "slack": {"webhook_url": "https://hooks.slack.com/services/T/B/x"},
}


def test_names_are_those_of_the_registry_and_labels_are_unique() -> None:
    made = all_adapters()
    assert [each.name for each in made] == list(PLATFORMS)
    assert len({each.label for each in made}) == len(made)


@every_platform
def test_schemas_are_valid_and_closed(name: str) -> None:
    made = get_adapter(name)
    for schema in filter(None, [made.capabilities.options, made.credentials_schema]):
        Draft202012Validator.check_schema(schema)
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert (made.credentials_schema is not None) == ("credentials" in made.methods)


@every_platform
def test_an_empty_text_counts_zero_and_a_short_text_is_allowed(name: str) -> None:
    rules = get_adapter(name).capabilities.text
    for limit, count in [(rules.max_length, rules.count), *((limit, count) for _, limit, count in rules.additional_limits)]:
        assert count("") == 0
        assert 0 <= count("Hello") <= limit
    assert rules.url_length in (None, rules.count("https://example.com/a/long/path/to/somewhere"))


@every_platform
def test_media_rules_agree_with_each_other_and_with_the_features(name: str) -> None:
    capabilities = get_adapter(name).capabilities
    media = capabilities.media
    kinds = [(kind, prefix) for kind, prefix in [(media.images, "image/"), (media.videos, "video/")] if kind]
    for kind, prefix in kinds:
        assert 1 <= kind.max_count <= media.max_count
        assert kind.max_bytes > 0
        assert kind.mime_types
        assert all(mime_type.startswith(prefix) for mime_type in kind.mime_types)
    assert max((kind.max_count for kind, _ in kinds), default=0) == media.max_count
    assert len(set(capabilities.features)) == len(capabilities.features)
    assert "text" in capabilities.features


def test_every_platform_states_who_makes_the_preview_of_a_link() -> None:
    assert {each.name: each.capabilities.link_preview for each in all_adapters()} == {
        "bluesky": "service",
        "mastodon": "platform",
        "telegram": "platform",
        "discord": "platform",
        "slack": "platform",
        "x": "platform",
        "threads": "platform",
        "linkedin": "options",
        "facebook": "options",
        "instagram": "none",
        "tiktok": "none",
        "youtube": "none",
        "pinterest": "none",
    }


@every_platform
def test_posts_have_a_card_only_if_the_service_makes_cards(name: str) -> None:
    made = get_adapter(name)
    service = made.capabilities.link_preview == "service"
    link = made.link_card_url("See https://example.com/a", {}, with_media=False)

    assert link == ("https://example.com/a" if service else None)
    assert made.link_card_url("See https://example.com/a", {}, with_media=True) is None
    assert ("link_card" in made.capabilities.options["properties"]) is service


def test_only_x_charges_for_linked_urls() -> None:
    assert {each.name: each.capabilities.links_url for each in all_adapters() if each.capabilities.links_url} == {
        "x": has_url_by_x_rules
    }


@pytest.mark.parametrize("name", CREDENTIALS)
def test_credentials_are_accepted_as_described_and_refused_if_a_field_is_missing_or_unexpected(name: str) -> None:
    schema = Draft202012Validator(get_adapter(name).credentials_schema or {})
    given = CREDENTIALS[name]
    assert schema.is_valid(given)
    assert not schema.is_valid({**given, "password": "p"})
    for field in given:
        assert not schema.is_valid({key: value for key, value in given.items() if key != field})
        assert not schema.is_valid({**given, field: ""})


def test_instagram_counts_hashtags_and_mentions() -> None:
    text = "#one #two2 #3 a#no &#38; @alice @bob.c me@example.com"
    assert (count_hashtags(text), count_mentions(text)) == (2, 2)


def test_x_counts_cashtags() -> None:
    assert count_cashtags("$ABC up, ($X), $5 and $TOOLONGER, $BRK.A") == 2


def test_telegram_counts_utf16_and_slack_characters() -> None:
    assert get_adapter("telegram").capabilities.text.count("😀") == 2
    assert get_adapter("slack").capabilities.text.count is code_point_length


# What the sentences of `not_possible` call a feature.
FEATURE_NAMES = {
    "alt_text": "alt text",
    "documents": "documents",
    "first_comment": "first comments",
    "images": "pictures",
    "link_cards": "link cards",
    "polls": "polls",
    "reels": "reels",
    "stories": "stories",
    "threads": "threads",
    "video": "videos",
}


@every_platform
def test_missing_features_are_described_in_short_sentences(name: str) -> None:
    sentences = get_adapter(name).capabilities.not_possible
    assert 3 <= len(sentences) <= 8
    assert len(set(sentences)) == len(sentences)
    assert all(sentence[0].isupper() and sentence.endswith(".") and len(sentence) <= 110 for sentence in sentences)


@every_platform
def test_missing_features_contradict_neither_the_features_nor_the_media_rules(name: str) -> None:
    capabilities = get_adapter(name).capabilities
    media, sentences = capabilities.media, capabilities.not_possible
    denied = [sentence.partition(" not possible")[0].lower() for sentence in sentences if " not possible" in sentence]
    wrong = [
        feature
        for feature, word in FEATURE_NAMES.items()
        if feature in capabilities.features and any(re.search(rf"(^|and ){word} (is|are|and)", each) for each in denied)
    ]
    assert wrong == []
    assert any(each.startswith("a post of text alone") for each in denied) is media.required
    kinds = [kind for kind in (media.images, media.videos) if kind]
    assert any("cannot be mixed" in sentence for sentence in sentences) is (len(kinds) == 2 and not media.mixed)


def test_an_instance_with_other_limits_has_the_same_missing_features() -> None:
    made = get_adapter("mastodon")
    assert (
        made.capabilities_for(AccountLimitsAndScopes("1", {"characters": 5000})).not_possible
        == made.capabilities.not_possible
    )
