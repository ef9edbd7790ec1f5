"""The requirement files are complete, and the checker reports what a document does not allow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from jsonschema import Draft202012Validator
from pytest_django import Settings
from urllib3.filepost import encode_multipart_formdata

from accounts.platforms.registry import PLATFORMS
from config.outbound import request
from tests.accounts.platforms.documents.requirements import FOLDER, faults, requirements_of, without_document
from tests.accounts.platforms.documents.watching import held_against_documents
from tests.fakes.http_server import LoopbackServer, ReceivedRequest
from tests.fakes.tiktok import FakeTikTok
from tests.fakes.web_pages import WebPages
from tests.fakes.x import FakeX

DOCUMENTED = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "index")
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
TWEETS, UPLOAD = "/2/tweets", "/2/media/upload"


def test_every_platform_has_requirements_or_a_reason_for_having_none() -> None:
    assert sorted([*DOCUMENTED, *without_document()]) == sorted(PLATFORMS)


@pytest.mark.parametrize("platform", DOCUMENTED)
def test_requirements_name_their_document_and_are_schemas(platform: str) -> None:
    requirements = requirements_of(platform)
    for document in requirements["documents"].values():
        assert set(document) == {"title", "published", "version", "read"}
    for operation in requirements["operations"]:
        assert operation["document"] in requirements["documents"], operation["name"]
        assert operation["method"] in METHODS, operation["name"]
        assert operation["path"].startswith("/"), operation["name"]
        assert set(operation) <= {"name", "document", "note", "method", "path", "query", "body"}, operation["name"]
    for schema in _schemas(requirements):
        Draft202012Validator.check_schema(_with_known_types(schema))
        assert set(re.findall(r'"#/schemas/(\w+)"', json.dumps(schema))) <= set(requirements.get("schemas", {}))


@pytest.mark.parametrize("platform", DOCUMENTED)
def test_every_object_says_whether_it_takes_unknown_fields(platform: str) -> None:
    silent = [each for schema in _schemas(requirements_of(platform)) for each in _objects(schema) if _is_silent(each)]

    assert silent == []


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        (("POST", "/2/posts", {}, {"text": "Hello"}), "the document has no such operation"),
        (("PUT", TWEETS, {}, {"text": "Hello"}), "the document has no such operation"),
        (("POST", TWEETS, {}, {"reply": {}, "text": "Hi"}), "body.reply: 'in_reply_to_tweet_id' is a required property"),
        (("POST", TWEETS, {}, {"text": "Hi", "reply_settings": "nobody"}), "body.reply_settings: 'nobody' is not one of"),
        (("POST", TWEETS, {}, {"text": "Hi", "texts": "Hi"}), "('texts' was unexpected)"),
        (("POST", TWEETS, {}, {"text": 1}), "body.text: 1 is not of type 'string'"),
        (("POST", TWEETS, {}, {"media": {"media_ids": ["1"] * 5}}), "is too long (maxItems)"),
        (("POST", TWEETS, {"a": "b"}, {"text": "Hi"}), "query: Additional properties are not allowed"),
        (("POST", TWEETS, {}, None), "the body is of no type; the operation takes application/json"),
        (("GET", UPLOAD, {}, None), "query: 'media_id' is a required property"),
        (("GET", UPLOAD, {"media_id": "1"}, {"a": 1}), "the operation takes no body"),
        (("GET", "/2/users/1/tweets", {"max_results": "101"}, None), "query.max_results: 101 is greater than"),
        (("GET", "/2/users/1/tweets", {"max_results": "all"}, None), "query.max_results: 'all' is not of type"),
        (("GET", "/2/users/1/tweets", {"exclude": "retweets,likes"}, None), "query.exclude[1]: 'likes' is not one of"),
    ],
)
def test_what_the_document_does_not_allow_is_found(request_: tuple[str, str, dict[str, str], Any], fault: str) -> None:
    method, path, query, body = request_
    [found] = faults("x", _request(method, path, query, body))

    assert found.startswith(f"{method} {path}: ")
    assert fault in found


@pytest.mark.parametrize(
    ("method", "path", "query", "body"),
    [
        ("POST", TWEETS, {}, {"text": "Hello", "reply_settings": "following"}),
        ("GET", UPLOAD, {"media_id": "1", "command": "STATUS"}, None),
        ("GET", "/2/users/1/tweets", {"max_results": "100", "exclude": "retweets,replies"}, None),
        ("POST", "/2/media/upload/1/finalize", {}, None),
    ],
)
def test_what_it_allows_is_not(method: str, path: str, query: dict[str, str], body: Any) -> None:
    assert faults("x", _request(method, path, query, body)) == []


def test_a_written_path_goes_before_one_with_names() -> None:
    """`/{version}/me` and `/{version}/{object}` match both, and take other fields."""
    assert faults("instagram", _request("GET", "/v25.0/me", {"fields": "id,account_type"})) == []
    [fault] = faults("instagram", _request("GET", "/v25.0/1", {"fields": "id,account_type"}))
    assert "'account_type' is not one of" in fault


def test_a_request_keeps_to_one_of_the_operations_that_share_its_path() -> None:
    for fields in ("permalink", "status_code,status"):
        assert faults("instagram", _request("GET", "/v25.0/1", {"fields": fields})) == []
    assert faults("instagram", _request("GET", "/v25.0/1", {"fields": "permalink,status_code"}))


def test_a_form_is_read_as_the_types_of_its_fields() -> None:
    def found(**fields: str) -> list[str]:
        return faults("facebook", _form("/v25.0/1/feed", fields))

    assert found(attached_media='[{"media_fbid": "1"}]', published="true") == []
    [fault] = found(published="yes")
    assert "body.published: 'yes' is not of type 'boolean'" in fault
    [fault] = found(attached_media='[{"media_fbid": 1}]')
    assert "body.attached_media[0].media_fbid: 1 is not of type 'string'" in fault


def test_a_file_is_a_part_with_a_name_and_no_other() -> None:
    named, unnamed = ("bench.jpg", b"\xff\xd8", "image/jpeg"), "a bench"

    assert faults("x", _multipart(UPLOAD, {"media": named, "media_category": "tweet_image"})) == []
    [fault] = faults("x", _multipart(UPLOAD, {"media": unnamed, "media_category": "tweet_image"}))
    assert "body.media: 'a bench' is not of type 'file'" in fault
    [fault] = faults("x", _multipart(UPLOAD, {"media": named}))
    assert "'media_category' is a required property" in fault


@pytest.mark.beyond_the_document("requests that are made to be found")
@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/2/posts", "GET /2/posts: the document has no such operation"),
        ("/2/users/me?a=b", "GET /2/users/me: getUsersMe of X"),
    ],
)
def test_what_a_stand_in_receives_fails_the_test(settings: Settings, path: str, fault: str) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with pytest.raises(AssertionError, match=fault), held_against_documents(), FakeX() as server:
        request("GET", server.url + path, timeout=5)


@pytest.mark.parametrize("stand_in", [FakeTikTok, WebPages])
def test_stand_ins_without_a_document_receive_anything(settings: Settings, stand_in: type[LoopbackServer]) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with held_against_documents(), stand_in() as server:
        request("GET", f"{server.url}/anything", timeout=5)


def _request(method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> ReceivedRequest:
    if body is None:
        return ReceivedRequest(method, path, query or {}, {}, b"")
    headers = {"content-type": "application/json"}
    return ReceivedRequest(method, path, query or {}, headers, json.dumps(body).encode())


def _form(path: str, fields: Mapping[str, str]) -> ReceivedRequest:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    return ReceivedRequest("POST", path, {}, headers, urlencode(fields).encode())


def _multipart(path: str, parts: Mapping[str, Any]) -> ReceivedRequest:
    body, content_type = encode_multipart_formdata(dict(parts))
    return ReceivedRequest("POST", path, {}, {"content-type": content_type}, body)


def _schemas(requirements: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema of a file: of queries, of bodies, and those that are shared."""
    for operation in requirements["operations"]:
        yield from [operation["query"]] if "query" in operation else []
        yield from operation.get("body", {}).values()
    yield from requirements.get("schemas", {}).values()


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    """The schemas of objects within a schema."""
    if isinstance(schema, list):
        for each in schema:
            yield from _objects(each)
    elif isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
            yield schema
        for each in schema.values():
            yield from _objects(each)


def _is_silent(schema: Mapping[str, Any]) -> bool:
    return "additionalProperties" not in schema


def _with_known_types(schema: Any) -> Any:
    """The schema with `null` in place of `file`, a type that JSON Schema does not have."""
    return json.loads(json.dumps(schema).replace('"file"', '"null"'))
