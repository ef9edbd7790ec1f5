"""The arguments of a call to the Bot API, in each of its four formats.

Source: core.telegram.org/bots/api (Making requests, Sending files). As its server does, every argument is stored as text:
a value of a JSON body that is none is its JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from requests_toolbelt import MultipartDecoder

from tests.fakes.http_server import ReceivedRequest
from tests.fakes.telegram_chats import SentFile, bad_request

_PARAMETER = re.compile(r';\s*(name|filename)="([^"]*)"')


@dataclass
class Arguments:
    """The arguments of a Bot API call, and its files by the name of their part."""

    texts: dict[str, str]
    files: dict[str, SentFile] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return self.texts.get(name, "")

    def flag(self, name: str) -> bool:
        return self.text(name).strip().lower() in ("true", "yes", "1")

    def number(self, name: str) -> int:
        """An argument as an integer; 0 if it is missing."""
        value = self.text(name).strip()
        return int(value) if value.lstrip("-").isdecimal() else 0

    def value(self, name: str, expected: str) -> Any:
        """An argument as JSON; None if it is missing."""
        if not self.text(name):
            return None
        try:
            return json.loads(self.text(name))
        except ValueError as error:
            raise bad_request(f"can't parse {expected} JSON object") from error

    def file(self, reference: str, part: str) -> SentFile | None:
        """The uploaded file that a reference `attach://part` names, otherwise the one in the part `part`."""
        if reference.startswith("attach://"):
            return self.files.get(reference.removeprefix("attach://"))
        return self.files.get(part)


def arguments(request: ReceivedRequest) -> Arguments:
    """Read a request to the Bot API. Raises Refusal for a JSON body that is not an object."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    texts, files = dict(request.query), {}
    if kind == "application/json" and request.body:
        texts |= _of_json(request)
    elif kind == "application/x-www-form-urlencoded":
        texts |= dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    elif kind == "multipart/form-data":
        for part in MultipartDecoder(request.body, request.headers["content-type"]).parts:
            headers = {name.decode().lower(): value.decode() for name, value in part.headers.items()}
            named = dict(_PARAMETER.findall(headers["content-disposition"]))
            if "filename" in named:
                mime_type = headers.get("content-type", "")
                files[named["name"]] = SentFile(part.content, named["filename"], mime_type)
            else:
                texts[named["name"]] = part.content.decode()
    return Arguments(texts, files)


def _of_json(request: ReceivedRequest) -> Mapping[str, str]:
    try:
        body = request.json()
    except ValueError as error:
        raise bad_request("can't parse JSON object") from error
    if not isinstance(body, dict):
        raise bad_request("can't parse JSON object")
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in body.items()}
