"""The requirements of the platforms' API documents, and a check of requests against them.

`<platform>.json` holds the requirements of one platform, `index.json` names the platforms without a document. A file has:

- `documents`: by a short name, the document's `title`, where it is `published`, its `version` and when it was `read`.
- `bases`: the allowed prefixes of the paths; without `bases` a path has no prefix.
- `operations`: each with its `name`, the `document` that describes it, `method`, `path` (a name in braces matches one
  segment), and JSON Schemas: `query` for the parameters, `body` by media type. Without `query` there are no parameters,
  without `body` there is none. A `note` says where documents differ. Where two operations share a method and a path,
  a request has to match one of them.
- `schemas`: what several operations share, as `{"$ref": "#/schemas/<name>"}`.

The schemas are of draft 2020-12 with one additional type: `file`, which is a part of a form that has a file name, or a whole
body that is neither JSON nor a form. Parameters and fields of forms come as text and are read as the type that their
schema names: a number, a boolean, a list (JSON, or separated by commas) or an object (JSON).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from requests_toolbelt import MultipartDecoder

from tests.fakes.http_server import ReceivedRequest

FOLDER = Path(__file__).parent
MAX_QUOTED = 160  # characters of a fault: its message begins with what was sent, which may be long

_PART = re.compile(r';\s*(name|filename)="([^"]*)"')
_PLACEHOLDER = re.compile(r"\{\w+\}")

Requirements = Mapping[str, Any]
Operation = Mapping[str, Any]

Validator = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("file", lambda _, value: isinstance(value, bytes)),
)


@functools.cache
def requirements_of(platform: str) -> Requirements:
    """Return the requirements of the platform's document. Raises FileNotFoundError for a platform that has none."""
    return _read(platform)


@functools.cache
def without_document() -> Mapping[str, str]:
    """The platforms that publish no machine-readable document, and what was found instead."""
    documents: Mapping[str, str] = _read("index")["without_document"]
    return documents


def faults(platform: str, request: ReceivedRequest) -> list[str]:
    """What the platform's document does not allow about this request, each in one line; none where it is allowed."""
    requirements, asked = requirements_of(platform), f"{request.method} {request.path}"
    operations = _operations_at(requirements, request)
    if not operations:
        return [f"{asked}: the document has no such operation. Add the operation to its file, or fix the request."]
    found = [(operation, _faults_against(requirements, operation, request)) for operation in operations]
    operation, fewest = min(found, key=lambda each: len(each[1]))
    document = requirements["documents"][operation["document"]]
    against = f"{operation['name']} of {document['title']} {document['version']}"
    return [f"{asked}: {against}: {fault}" for fault in fewest]


def _operations_at(requirements: Requirements, request: ReceivedRequest) -> list[Operation]:
    """The operations with this method and path; where a written path matches as well as one with names, the former."""
    matching = [
        operation
        for operation in requirements["operations"]
        if operation["method"] == request.method
        and any(_pattern(base + operation["path"]).fullmatch(request.path) for base in requirements.get("bases", [""]))
    ]
    fewest = min((_names_in(operation) for operation in matching), default=0)
    return [operation for operation in matching if _names_in(operation) == fewest]


def _names_in(operation: Operation) -> int:
    return len(_PLACEHOLDER.findall(operation["path"]))


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("[^/]+".join(re.escape(written) for written in _PLACEHOLDER.split(path)))


def _faults_against(requirements: Requirements, operation: Operation, request: ReceivedRequest) -> list[str]:
    """What is wrong with the parameters and the body."""
    query = operation.get("query", {"type": "object", "additionalProperties": False})
    found = _schema_faults(requirements, query, _read_texts(requirements, request.query, query), "query")
    return found + _body_faults(requirements, operation.get("body", {}), request)


def _body_faults(requirements: Requirements, bodies: Mapping[str, Any], request: ReceivedRequest) -> list[str]:
    content_type = request.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if not bodies:
        return [f"the operation takes no body, and there is one of {media_type}"] if request.body else []
    schema = next((bodies[kind] for kind in bodies if fnmatch(media_type, kind)), None)
    if schema is None:
        return [f"the body is {media_type or 'of no type'}; the operation takes {', '.join(bodies)}"]
    if media_type == "application/json":
        try:
            return _schema_faults(requirements, schema, request.json(), "body")
        except ValueError:
            return ["the body is not JSON"]
    if media_type == "application/x-www-form-urlencoded":
        form = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        return _schema_faults(requirements, schema, _read_texts(requirements, form, schema), "body")
    if media_type == "multipart/form-data":
        parts = _parts(request.body, content_type)
        return _schema_faults(requirements, schema, _read_texts(requirements, parts, schema), "body")
    return _schema_faults(requirements, schema, request.body, "body")


def _parts(body: bytes, content_type: str) -> dict[str, str | bytes]:
    """The parts of a multipart body by name: bytes for a file, text for any other."""
    parts: dict[str, str | bytes] = {}
    for part in MultipartDecoder(body, content_type).parts:
        named = dict(_PART.findall(part.headers[b"Content-Disposition"].decode()))
        parts[named["name"]] = part.content if "filename" in named else part.content.decode()
    return parts


def _schema_faults(requirements: Requirements, schema: Any, value: Any, place: str) -> list[str]:
    validator = Validator({"schemas": requirements.get("schemas", {}), "allOf": [schema]})
    return [_message(error, place) for error in validator.iter_errors(value)]


def _message(error: ValidationError, place: str) -> str:
    message = error.message if len(error.message) <= MAX_QUOTED else f"… {error.message[-MAX_QUOTED:]}"
    return f"{error.json_path.replace('$', place, 1)}: {message} ({error.validator})"


def _read_texts(requirements: Requirements, texts: Mapping[str, str | bytes], schema: Any) -> dict[str, Any]:
    """The values that the texts stand for, by the types that the schema names for them."""
    properties = _properties(_resolved(requirements, schema))
    return {name: _value(text, _resolved(requirements, properties.get(name, {}))) for name, text in texts.items()}


def _properties(schema: Any) -> dict[str, Any]:
    """The properties that the schema names, those of its alternatives among them."""
    named = dict(schema.get("properties", {}))
    for alternative in schema.get("oneOf", []):
        named |= _properties(alternative)
    return named


def _resolved(requirements: Requirements, schema: Any) -> Any:
    while "$ref" in schema:
        schema = requirements["schemas"][schema["$ref"].removeprefix("#/schemas/")]
    return schema


def _value(text: str | bytes, schema: Any) -> Any:
    """The value that a text stands for; the text itself where it stands for none of the type."""
    named = schema.get("type", "string")
    types = {named} if isinstance(named, str) else set(named)
    if isinstance(text, bytes) or "string" in types:
        return text
    if "array" in types and not text.startswith("["):
        return text.split(",")
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if any(Validator.TYPE_CHECKER.is_type(value, each) for each in types) else text


def _read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())
