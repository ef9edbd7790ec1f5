"""What a platform would say of a post, before it is asked: issues, each with a repair that can be applied as it stands."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jsonschema

from accounts.models import ConnectedAccount
from accounts.platforms.counting import cut
from accounts.platforms.issues import Issue, RepairHint
from accounts.platforms.media_check import album_issues, asset_issues
from accounts.platforms.registry import platform
from accounts.platforms.types import Capabilities
from billing.prices import price_of
from posts import selectors
from posts.media import AttachedMedia


@dataclass(frozen=True)
class TargetInput:
    """One target as it was asked for, with its account and the group's media."""

    account: ConnectedAccount
    text: str | None
    options: Mapping[str, Any]
    shown_text: str
    sandbox: bool
    media: tuple[AttachedMedia, ...] = ()

    @property
    def capabilities(self) -> Capabilities:
        return platform(self.account.platform).capabilities

    @property
    def text_limit(self) -> int:
        """How long the text may be here: what goes out as the caption of media has a limit of its own."""
        rules = self.capabilities.text
        captions = rules.max_length_with_media if self.media else None
        return rules.max_length if captions is None else captions

    @property
    def content_sha256(self) -> str:
        """Of the text and the assets in their order; a text holds no NUL."""
        shown = [self.shown_text, *(attached.asset.id for attached in self.media)]
        return hashlib.sha256("\0".join(shown).encode()).hexdigest()

    @property
    def content_key(self) -> tuple[str, str, bool]:
        """What makes it a repetition: the same content for the same account, both real or both simulated."""
        return self.account.id, self.content_sha256, self.sandbox

    @property
    def has_url(self) -> bool:
        """Whether the platform counts this as a post with a URL."""
        links_url = self.capabilities.links_url
        return links_url is not None and links_url(self.shown_text)

    @property
    def price_cents(self) -> int:
        return 0 if self.sandbox else price_of(self.account.platform, has_url=self.has_url)


@dataclass(frozen=True)
class TargetValidation:
    target: TargetInput
    text_length: int
    issues: list[Issue]

    @property
    def valid(self) -> bool:
        return not any(issue.severity == "error" for issue in self.issues)

    @property
    def text_limit(self) -> int:
        return self.target.text_limit

    @property
    def platform(self) -> str:
        return self.target.account.platform

    @property
    def connected_account_id(self) -> str:
        return self.target.account.id


@dataclass(frozen=True)
class Validation:
    """The result for a whole group."""

    targets: list[TargetValidation]
    issues: list[Issue] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        return not self.errors

    @property
    def errors(self) -> list[Issue]:
        found = [*self.issues, *(issue for target in self.targets for issue in target.issues)]
        return [issue for issue in found if issue.severity == "error"]

    @property
    def estimated_cost_cents(self) -> int:
        return sum(each.target.price_cents for each in self.targets)


def validate(targets: Sequence[TargetInput], *, group_id: str = "") -> Validation:
    """Check each target against its platform's Capabilities; one query, for content that was sent before.

    `group_id` is the group whose content this is already, which does not count as sent before.
    """
    earlier = selectors.earlier_groups_with(
        contents=[target.content_key for target in targets if target.shown_text or target.media], but=group_id
    )
    checked = []
    for index, target in enumerate(targets):
        issues = [
            *_account_issues(target, index),
            *_text_issues(target, index),
            *_media_issues(target),
            *_option_issues(target, index),
            *_repeat_issues(target, index, earlier),
        ]
        checked.append(TargetValidation(target, target.capabilities.text.count(target.shown_text), issues))
    return Validation(checked)


def _account_issues(target: TargetInput, index: int) -> list[Issue]:
    account = target.account
    if account.status == ConnectedAccount.Status.ACTIVE:
        return []
    where = f"targets[{index}].connected_account_id"
    hint = RepairHint("reconnect_account", where, "Connect the account again (POST /accounts/connect); its id stays.")
    return [Issue("ACCOUNT_NEEDS_REAUTH", "error", where, f"The account is {account.status}.", repair_hint=hint)]


def _text_issues(target: TargetInput, index: int) -> list[Issue]:
    text, where = target.shown_text, f"targets[{index}].text"
    issues = []
    if not text.strip() and not target.media:
        hint = RepairHint("write_text", where, "Write a text, or attach media.")
        issues.append(Issue("TEXT_REQUIRED", "error", where, "There is neither text nor media.", repair_hint=hint))
    over = [(unit, limit, count(text)) for unit, limit, count in _limits(target) if count(text) > limit]
    if over:
        unit, limit, length = over[0]
        shorter = text
        for _, most, count in _limits(target):
            shorter = cut(shorter, most, count)
        explanation = f"The text cut at a word within {limit} {unit}; it holds for this target only."
        hint = RepairHint("replace_text", where, explanation, shorter)
        beside = " beside media" if target.text_limit != target.capabilities.text.max_length else ""
        message = f"The text counts {length} {unit}; {target.account.platform} takes {limit}{beside}."
        issues.append(Issue("TEXT_TOO_LONG", "error", where, message, auto_fixable=True, repair_hint=hint))
    return issues


def _limits(target: TargetInput) -> list[tuple[str, int, Any]]:
    rules = target.capabilities.text
    return [(rules.counted_as, target.text_limit, rules.count), *rules.also]


def _media_issues(target: TargetInput) -> list[Issue]:
    name, rules = target.account.platform, target.capabilities.media
    assets = [attached.facts for attached in target.media]
    alone = (asset_issues(name, rules, asset, f"media[{index}]") for index, asset in enumerate(assets))
    return [*itertools.chain.from_iterable(alone), *album_issues(name, rules, assets)]


def _option_issues(target: TargetInput, index: int) -> list[Issue]:
    problems = jsonschema.Draft202012Validator(dict(target.capabilities.options)).iter_errors(dict(target.options))
    issues = []
    for problem in problems:
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.absolute_path)
        where = f"targets[{index}].options{path}"
        issues.append(Issue("OPTIONS_INVALID", "error", where, problem.message[:500]))
    return issues


def _repeat_issues(target: TargetInput, index: int, earlier: Mapping[tuple[str, str, bool], str]) -> list[Issue]:
    group_id = earlier.get(target.content_key)
    if group_id is None:
        return []
    message = f"The account was sent the same content within 24 hours, by {group_id}."
    return [Issue("DUPLICATE_CONTENT", "warning", f"targets[{index}].text", message)]
