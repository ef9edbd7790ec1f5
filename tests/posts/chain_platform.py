"""A fake platform with threads whose outcomes cannot be verified; tests choose its errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from accounts.models import ConnectedAccount
from accounts.platforms.errors import PlatformError
from accounts.platforms.thread_option import thread_texts_including_first, thread_texts_schema
from accounts.platforms.thread_rules import ThreadRules
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.conftest import ApiClient
from tests.posts.rows import create
from tests.posts.scripted_platform import ScriptedPlatform, publish_content

FIVE = ("One", "Two", "Three", "Four", "Five")
RULES = ThreadRules(max_segments=10)


class ChainPlatform(ScriptedPlatform):
    """`sent` records the content of each attempt; `faults` maps a segment's position, from 1, to the error it raises."""

    capabilities = replace(
        ScriptedPlatform.capabilities,
        thread=RULES,
        options={"type": "object", "properties": {"thread": thread_texts_schema(RULES)}, "additionalProperties": False},
    )
    faults: ClassVar[dict[int, PlatformError]]

    def publish_step(self, grant: Grant, content: Content, progress: Progress) -> Progress | Published:
        if progress.phase == "start":
            return progress.with_next_step("send", {})
        out = len(progress.segments)
        text = thread_texts_including_first(content)[out]
        type(self).sent.append(replace(content, text=text))
        if fault := type(self).faults.get(out + 1):
            raise fault
        if out + 1 < len(thread_texts_including_first(content)):
            return replace(progress, segments=(*progress.segments, text))
        return publish_content(content)


def post_five(api: ApiClient, account: ConnectedAccount, *texts: str, **fields: Any) -> dict[str, Any]:
    first, *further = texts or FIVE
    options = {"thread": [{"text": text} for text in further]}
    target = {"platform": account.platform, "connected_account_id": account.id, "options": options}
    return create(api, account, text=first, targets=[target], **fields)
