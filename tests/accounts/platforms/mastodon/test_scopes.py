"""Owners are asked for narrow scopes if their server supports them, else for the wide ones that include them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.platforms.mastodon.adapter import Mastodon
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.accounts.platforms.mastodon.steps import authorize
from tests.fakes.http_server import Answer
from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_documents import METADATA, NODEINFO, NODEINFO_LINKS
from tests.fakes.mastodon_oauth import REGISTER

NARROW = ["read:accounts", "read:statuses", "write:statuses", "write:media"]
WIDE = ["read", "write"]
REL = "http://nodeinfo.diaspora.software/ns/schema/2.0"


def asked_for(mastodon: Mastodon, address: str) -> list[str]:
    """The scopes that the owner's page names."""
    return parse_qs(urlsplit(authorize(mastodon, address).url).query)["scope"][0].split()


@pytest.fixture
def scripted(scripted: ScriptedServer) -> ScriptedServer:
    scripted.answers[REGISTER] = Answer.of_json({"client_id": "id", "client_secret": "secret"})
    return scripted


def announce_software(scripted: ScriptedServer, name: Any, version: Any = "4.0.0", href: str = "") -> None:
    links = [{"rel": REL, "href": href or f"{scripted.url}/nodeinfo/2.0"}]
    scripted.answers |= {
        NODEINFO_LINKS: Answer.of_json({"links": links}),
        NODEINFO: Answer.of_json({"software": {"name": name, "version": version}}),
    }


def test_a_server_that_lists_the_narrow_scopes_is_asked_for_them(mastodon: Mastodon, server: FakeMastodon) -> None:
    assert asked_for(mastodon, server.url) == NARROW
    assert [server.call_of(request) for request in server.requests] == [METADATA, REGISTER]
    assert list(server.applications()[0].scopes - set(NARROW)) == []


def test_an_older_mastodon_is_recognized_by_its_software(mastodon: Mastodon, server: FakeMastodon) -> None:
    server.hide(METADATA)

    assert asked_for(mastodon, server.url) == NARROW


@pytest.mark.parametrize(
    ("supported", "scopes"),
    [
        (["read", "write", "follow", "push"], WIDE),
        (["read", "write", "read:accounts", "read:statuses", "write:statuses"], WIDE),
        (["profile", *NARROW, *WIDE], NARROW),
        ([], WIDE),
        ([{}, None, ["read:accounts"]], WIDE),
    ],
)
def test_a_server_is_asked_only_for_scopes_that_it_lists(
    mastodon: Mastodon, scripted: ScriptedServer, supported: list[Any], scopes: list[str]
) -> None:
    scripted.answers[METADATA] = Answer.of_json({"scopes_supported": supported})
    announce_software(scripted, "mastodon")

    assert asked_for(mastodon, scripted.url) == scopes
    assert NODEINFO_LINKS not in scripted.calls


@pytest.mark.parametrize(
    ("software", "version", "scopes"),
    [
        ("mastodon", "4.2.1+glitch", NARROW),
        ("mastodon", "2.4.2", WIDE),
        ("gotosocial", "0.19.0+git-8a1b2c3", NARROW),
        ("gotosocial", "0.18.3", WIDE),
        ("pleroma", "2.6.2", NARROW),
        ("pleroma", "1.1.5", WIDE),
        ("akkoma", "3.15.2-0-gabc", NARROW),
        *(("mastodon", version, WIDE) for version in ("", "new", None, 4, ["4.0"])),
        *((name, "4.0.0", WIDE) for name in ("takahe", "pixelfed", "friendica", "unheard of", "", None, ["mastodon"])),
    ],
)
def test_the_software_decides_for_a_server_without_a_list(
    mastodon: Mastodon, scripted: ScriptedServer, software: Any, version: Any, scopes: list[str]
) -> None:
    announce_software(scripted, software, version)

    assert asked_for(mastodon, scripted.url) == scopes


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404, b"Not Found"),
        Answer(500),
        Answer(200, b"<html>Welcome</html>"),
        Answer(302, b"", {"Location": "https://elsewhere.example/"}),
        Answer.of_json([]),
        Answer.of_json({"scopes_supported": "read write", "links": "none", "software": "mastodon"}),
        Answer.of_json({"links": [None, {}, {"rel": REL}, {"rel": REL, "href": 7}, {"rel": 7, "href": "//x"}]}),
    ],
)
def test_a_server_without_documents_is_asked_for_wide_scopes(
    mastodon: Mastodon, scripted: ScriptedServer, answer: Answer
) -> None:
    scripted.answers |= {METADATA: answer, NODEINFO_LINKS: answer, NODEINFO: answer}

    assert asked_for(mastodon, scripted.url) == WIDE


def test_no_other_server_is_called(mastodon: Mastodon, scripted: ScriptedServer) -> None:
    with ScriptedServer() as elsewhere:
        announce_software(elsewhere, "mastodon")
        announce_software(scripted, "takahe", href=f"{elsewhere.url}/nodeinfo/2.0")

        assert asked_for(mastodon, scripted.url) == WIDE
        assert elsewhere.calls == []
