"""Words for dashboard pages about the platform option `poll`: what its parts mean, in the language of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from accounts.dashboard.amounts import poll_duration_range_in_words
from accounts.platforms.poll_rules import PollRules
from accounts.platforms.polls import OPTION_NAME
from accounts.platforms.types import Capabilities


def option_schema_with_poll_in_words(capabilities: Capabilities) -> Mapping[str, Any]:
    """Return the JSON Schema of a platform's options, with the poll's limits described in the language of the page.

    The descriptions in the schema itself are for the API, and contain the platform's numbers in English sentences.
    """
    schema, rules = capabilities.options, capabilities.poll
    poll = schema.get("properties", {}).get(OPTION_NAME)
    if rules is None or poll is None:
        return schema
    parts = dict(poll["properties"])
    for name, words in (("choices", _choices(rules)), ("duration_minutes", _duration(rules))):
        parts[name] = {**parts[name], "description": words}
    return {**schema, "properties": {**schema["properties"], OPTION_NAME: {**poll, "properties": parts}}}


def _choices(rules: PollRules) -> str:
    named = {"least": rules.min_choices, "most": rules.max_choices, "length": rules.max_choice_length}
    if rules.min_choices < rules.max_choices:
        return _("What can be voted for: %(least)d to %(most)d choices, each of at most %(length)d characters.") % named
    return _("What can be voted for: %(most)d choices, each of at most %(length)d characters.") % named


def _duration(rules: PollRules) -> str:
    return _("%(range)s. A day has 1440 minutes.") % {"range": capfirst(poll_duration_range_in_words(rules))}
