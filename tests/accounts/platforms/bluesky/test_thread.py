from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import ContentRejected, OutcomeUnknown
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.accounts.platforms.bluesky.scripted_server import DID, GET_RECORD, PUT_RECORD, ScriptedServer
from tests.accounts.platforms.bluesky.steps import prepare, stored
from tests.accounts.platforms.media_files import media_file, picture
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer

RKEY = "3l25zusnsfck2"
URI = f"at://{DID}/app.bsky.feed.post/{RKEY}"


def thread(*texts: str, **fields: Any) -> Content:
    """A Bluesky thread of these segments."""
    options = {"thread": [{"text": text} for text in texts[1:]], **fields.pop("options", {})}
    return Content("tgt_1", texts[0], options, **fields)


def publish(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress | None = None) -> Published:
    """Take all steps of a publication on Bluesky; repeat a `put` whose outcome is unknown, as the engine does."""
    result: Progress | Published = progress or Progress("start")
    while isinstance(result, Progress):
        try:
            result = bluesky.publish_step(grant, content, stored(result))
        except OutcomeUnknown:
            continue
    return result


def chain_of(pds: FakeBluesky, grant: Grant) -> list[tuple[str, int | None, int | None]]:
    """The texts of the account's posts, each with the indexes of its root and its parent."""
    records = pds.records(grant.external_id)
    places = {(record["uri"], record["cid"]): place for place, record in enumerate(records)}

    def place(record: dict[str, Any], name: str) -> int | None:
        ref = record["value"].get("reply", {}).get(name)
        return places[ref["uri"], ref["cid"]] if ref else None

    return [(record["value"]["text"], place(record, "root"), place(record, "parent")) for record in records]


IN_ORDER = [("One", None, None), ("Two", 0, 0), ("Three", 0, 1)]


def test_segments_refer_to_the_root_and_to_the_one_before(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    published = publish(bluesky, grant, thread("One", "Two", "Three"))

    assert chain_of(pds, grant) == IN_ORDER
    first = pds.records(grant.external_id)[0]
    address = f"https://bsky.app/profile/{grant.external_id}/post/{first['rkey']}"
    assert published == Published(first["uri"], address)


def test_the_first_segment_has_the_media_and_all_have_the_languages(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    publish(bluesky, grant, thread("One", "Two", media=(media_file(picture()),), options={"langs": ["en"]}))

    values = [record["value"] for record in pds.records(grant.external_id)]
    assert [("embed" in value, value["langs"]) for value in values] == [(True, ["en"]), (False, ["en"])]


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("segment", [1, 2, 3])
def test_a_thread_continues_after_a_lost_response(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, segment: int, published: bool
) -> None:
    for _ in range(segment - 1):
        pds.hold_next(PUT_RECORD).set()  # these go through
    pds.drop_next(PUT_RECORD, after_accept=published)

    publish(bluesky, grant, thread("One", "Two", "Three"))

    assert (chain_of(pds, grant), pds.writes) == (IN_ORDER, 3)


def test_a_step_that_is_taken_twice_makes_no_second_segment(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    content = thread("One", "Two", "Three")
    progress = prepare(bluesky, grant, content)
    for _ in range(2):
        twice = [bluesky.publish_step(grant, content, stored(progress)) for _ in range(2)]
        assert isinstance(twice[0], Progress)
        assert twice[0] == twice[1]
        progress = prepare(bluesky, grant, content, twice[0])

    publish(bluesky, grant, content, progress)

    assert chain_of(pds, grant) == IN_ORDER


def test_a_segment_is_repeated_until_the_server_names_its_content_id(bluesky: Bluesky, scripted: ScriptedServer) -> None:
    grant = Grant(tokens={"access": "access", "refresh": "refresh", "pds": scripted.url}, external_id=DID)
    record = {"$type": "app.bsky.feed.post", "text": "One", "createdAt": "2026-11-20T12:00:00.000Z"}
    frozen = Progress("put", {"rkey": RKEY, "record": record})
    scripted.answers[PUT_RECORD] = Answer.of_json({"uri": URI})
    with pytest.raises(OutcomeUnknown):
        bluesky.publish_step(grant, thread("One", "Two"), frozen)
    assert isinstance(bluesky.publish_step(grant, thread("One"), frozen), Published)

    scripted.answers |= {PUT_RECORD: Answer(502), GET_RECORD: Answer.of_json({"uri": URI, "cid": "bafyone", "value": record})}
    following = bluesky.publish_step(grant, thread("One", "Two"), frozen)

    assert following == Progress("freeze", segments=({"uri": URI, "cid": "bafyone"},))


@pytest.mark.parametrize(
    ("further", "words"),
    [(["Two", "a" * 301], "Segment 3 counts 301 graphemes; Bluesky takes 300."), ([" "], "Segment 2 is empty.")],
)
def test_invalid_segments_are_rejected_before_the_first_is_published(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, further: list[str], words: str
) -> None:
    with pytest.raises(ContentRejected) as caught:
        publish(bluesky, grant, thread("One", *further))

    assert (caught.value.message, pds.writes) == (words, 0)
