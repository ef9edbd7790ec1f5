from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Grant, Published
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import go_to, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE, LIST


def key_of(server: FakeMastodon) -> str:
    """The Idempotency-Key of the last request to create."""
    return [each.headers["idempotency-key"] for each in server.requests if server.call_of(each) == CREATE][-1]


def test_a_text_is_published_in_two_steps(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = go_to("create", mastodon, grant, post("Hello 👋"))
    assert server.statuses("alice") == []

    published = step(mastodon, grant, post("Hello 👋"), progress)

    (status,) = server.statuses("alice")
    assert (status["text"], status["visibility"], status["media"]) == ("Hello 👋", "public", [])
    assert published == Published(status["id"], f"{server.url}/@alice/{status['id']}")
    assert mastodon.irreversible == {"create"}


def test_options_are_sent_unchanged(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    content = post("Olá", visibility="unlisted", spoiler_text="Greeting", sensitive=True, language="pt")

    publish(mastodon, grant, content)

    (status,) = server.statuses("alice")
    assert (status["spoiler_text"], status["visibility"]) == ("Greeting", "unlisted")
    assert (status["sensitive"], status["language"]) == (True, "pt")


@pytest.mark.parametrize(("language", "stored"), [("zh-TW", "zh-TW"), ("pt-BR", "pt"), ("sr-Latn", "sr")])
def test_a_language_is_sent_with_its_script_or_region(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, language: str, stored: str
) -> None:
    publish(mastodon, grant, post("Text", language=language))

    assert [each.json()["language"] for each in server.requests if server.call_of(each) == CREATE] == [language]
    assert [status["language"] for status in server.statuses("alice")] == [stored]


def test_attempts_share_a_key_and_the_next_publication_has_another(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    first, second = (go_to("create", mastodon, grant, post()) for _ in range(2))
    keys = []
    for progress in (first, first, second):
        step(mastodon, grant, post(), progress)
        keys.append(key_of(server))

    assert keys[0] == keys[1] != keys[2]
    assert all(key.startswith("tgt_1-") for key in keys)


def test_a_post_is_published_to_a_server_that_lists_no_posts(
    mastodon: Mastodon, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    for refusal in (Answer.of_json({"error": "outside the authorized scopes"}, 403), Answer(404)):
        scripted.answers[LIST] = refusal

        assert publish(mastodon, scripted_grant, post()).external_id == "7"


def test_a_refusal_is_reported_in_the_servers_words(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    server.set_max_characters(4)

    with pytest.raises(ContentRejected) as caught:
        publish(mastodon, grant, post("Hello"))

    assert caught.value.message == (
        "The account's server does not accept this post: Validation failed: Text character limit of 4 exceeded"
    )
    assert server.statuses("alice") == []
