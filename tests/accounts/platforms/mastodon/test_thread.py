from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Content, Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.mastodon.steps import find, go_to, image, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_methods import CREATE


def thread(*texts: str) -> Content:
    """A Mastodon thread of these segments."""
    return post(texts[0], thread=[{"text": text} for text in texts[1:]])


THREE = thread("One", "Two", "Three")


def chain_of(server: FakeMastodon) -> list[tuple[str, int | None]]:
    """The texts of alice's statuses, each with the index of the one that it replies to."""
    statuses = server.statuses("alice")
    places = {status["id"]: place for place, status in enumerate(statuses)}
    return [(status["text"], places.get(status["in_reply_to_id"])) for status in statuses]


IN_ORDER = [("One", None), ("Two", 0), ("Three", 1)]


def after(sent: int, mastodon: Mastodon, grant: Grant) -> Progress:
    """The progress after so many segments were published."""
    progress = go_to("create", mastodon, grant, THREE)
    for _ in range(sent):
        following = step(mastodon, grant, THREE, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def test_segments_reply_to_each_other_and_the_first_is_returned(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    published = publish(mastodon, grant, THREE)

    assert chain_of(server) == IN_ORDER
    first = server.statuses("alice")[0]["id"]
    assert published == Published(first, f"{server.url}/@alice/{first}")


def test_the_first_segment_has_the_media_and_all_have_the_audience(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    options = {"visibility": "private", "spoiler_text": "Food", "language": "pt", "sensitive": True}

    publish(mastodon, grant, post("One", image(), thread=[{"text": "Two"}], **options))

    first, second = server.statuses("alice")
    assert (len(first["media"]), second["media"]) == (1, [])
    for name in ("visibility", "spoiler_text", "language"):
        assert first[name] == second[name] == options[name]


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("sent", [0, 1, 2])
def test_a_thread_continues_after_a_lost_response(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant, sent: int, accepted: bool
) -> None:
    progress = after(sent, mastodon, grant)
    server.drop_next(CREATE, after_accept=accepted)
    with pytest.raises(OutcomeUnknown):
        step(mastodon, grant, THREE, progress)
    server.post("alice", THREE.options["thread"][0]["text"], in_reply_to_id="1")  # to somebody else

    found = find(mastodon, grant, THREE, progress)

    assert isinstance(found, NotPublishedProof) is not accepted
    following = progress if isinstance(found, NotPublishedProof) else found
    published = following if isinstance(following, Published) else publish(mastodon, grant, THREE, following)
    ours = [status for status in server.statuses("alice") if status["in_reply_to_id"] != "1"]
    assert [status["text"] for status in ours] == ["One", "Two", "Three"]
    assert [status["in_reply_to_id"] for status in ours] == [None, ours[0]["id"], ours[1]["id"]]
    assert published.external_id == ours[0]["id"]


def test_each_segment_has_its_own_constant_key(mastodon: Mastodon) -> None:
    with FakeMastodon() as server:  # which knows the keys again
        grant = mastodon.connect_with_credentials({"instance": server.url, "access_token": server.add_account("alice")}).grant
        progress = go_to("create", mastodon, grant, THREE)
        for _ in range(2):
            twice = [step(mastodon, grant, THREE, progress) for _ in range(2)]
            assert isinstance(twice[0], Progress)
            assert twice[0] == twice[1]
            progress = twice[0]
        publish(mastodon, grant, THREE, progress)

        assert chain_of(server) == IN_ORDER


def test_a_segment_whose_parent_was_deleted_is_refused_for_good(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    progress = after(1, mastodon, grant)
    server.delete(server.statuses("alice")[0]["id"])

    with pytest.raises(ContentRejected, match=r"The post you are trying to reply to does not appear to exist\.$"):
        step(mastodon, grant, THREE, progress)


def test_a_404_page_is_not_about_the_parent(mastodon: Mastodon, server: FakeMastodon, grant: Grant) -> None:
    progress = after(1, mastodon, grant)
    server.refuse_next(CREATE, Answer(404, b"<html>"))

    with pytest.raises(Transient):
        step(mastodon, grant, THREE, progress)


def test_a_segment_cannot_be_found_if_statuses_cannot_be_listed(
    mastodon: Mastodon, server: FakeMastodon, grant: Grant
) -> None:
    progress = after(2, mastodon, grant)

    with pytest.raises(OutcomeUnknown) as caught:
        find(mastodon, grant, THREE, replace(progress, state={**progress.state, "after": None}))

    assert caught.value.final


def test_segments_are_checked_with_the_servers_limits_before_the_first_is_published(
    mastodon: Mastodon, server: FakeMastodon
) -> None:
    server.set_max_characters(300)
    connection = mastodon.connect_with_credentials({"instance": server.url, "access_token": server.add_account("alice")})
    grant = Grant(connection.grant.credentials, connection.grant.tokens, limits=connection.identity.limits)
    content = post("One", thread=[{"text": "a" * 295}], spoiler_text="Warning")

    with pytest.raises(ContentRejected) as caught:
        step(mastodon, grant, content)

    words = "Segment 2 counts 295 graphemes; the account's server takes 293 beside its options."
    assert (caught.value.message, server.statuses("alice")) == (words, [])
