"""Validation of posts against their platforms' rules; issues have repair hints, many of which a program can apply."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jsonschema import ValidationError

from accounts.models import ConnectedAccount
from accounts.platforms.issues import Issue, RepairHint
from accounts.platforms.link_cards import link_card_issues
from accounts.platforms.media_check import asset_issues, media_list_and_alt_text_issues
from accounts.platforms.option_media import option_media_issues
from accounts.platforms.polls import is_reported_by_poll_issues, poll_choices_in_options, poll_in_options, poll_issues
from accounts.platforms.registry import get_adapter
from accounts.platforms.schemas import first_schema_violations
from accounts.platforms.text_check import TextCheckCache, length_issues, text_limit
from accounts.platforms.thread_option import texts_billed_by_platform, thread_issues
from accounts.platforms.types import Capabilities, MediaKind
from billing.prices import post_price_cents
from config.api.request_limits import check_cpu_time
from posts.attached_media import AttachedMedia
from posts.duplicates import ContentKey, content_sha256, duplicate_group_id_by_content


@dataclass(frozen=True)
class TargetToValidate:
    """A target of a post before its validation: an account with the text, options and media to publish there."""

    account: ConnectedAccount
    text: str | None
    options: Mapping[str, Any]
    shown_text: str
    sandbox: bool
    media: tuple[AttachedMedia, ...] = ()
    cached: TextCheckCache = field(
        default_factory=TextCheckCache, compare=False, repr=False
    )  # shared by a post group's targets

    @cached_property
    def capabilities(self) -> Capabilities:
        """Return the capabilities against which a target is validated, for its account's server and OAuth scopes."""
        return get_adapter(self.account.platform).capabilities_for(self.account.id_limits_and_scopes())

    @property
    def text_length(self) -> int:
        """Return the length of the text of a target to validate, as its platform counts it."""
        return self.cached(self.capabilities.text.count, self.shown_text)

    @property
    def text_limit(self) -> int:
        """Return the maximum length of the text of a target to validate; it may depend on media and options."""
        return text_limit(self.capabilities.text, self.options, self.media_kinds)

    @property
    def media_kinds(self) -> list[MediaKind]:
        """Return the kinds of media, such as image or video, of a target to validate, in order."""
        return [attached.media_info.kind for attached in self.media]

    @property
    def link_card_url(self) -> str | None:
        """Return the URL in the text of a target to validate for which the service makes a link card; None without a card."""
        adapter = get_adapter(self.account.platform)
        return adapter.link_card_url(self.shown_text, self.options, with_media=bool(self.media))

    @property
    def poll(self) -> dict[str, Any] | None:
        """Return the poll of a target to validate as {choices, duration_minutes, multiple}; None without a supported poll."""
        poll = poll_in_options(self.options)
        if poll is None or self.capabilities.poll is None:
            return None
        minutes, multiple = poll.get("duration_minutes"), poll.get("multiple")
        return {
            "choices": list(poll_choices_in_options(self.options)),
            "duration_minutes": minutes if type(minutes) is int else None,
            "multiple": multiple is True,
        }

    @property
    def duplicate_sha256(self) -> str:
        """Return the hash of the texts, poll choices and media ids of a target to validate, which is equal for duplicates."""
        return content_sha256(self.shown_text, self.options, (attached.asset.id for attached in self.media))

    @property
    def duplicate_detection_key(self) -> ContentKey:
        """Return the key by which validation finds duplicates of a target: account, content hash, whether it is simulated."""
        return self.account.id, self.duplicate_sha256, self.sandbox

    @property
    def billed_posts_with_url_count(self) -> int:
        """Return how many billed posts of a validated target (several for a thread) contain a URL; 0 if it is simulated."""
        return sum(self._billed)

    @property
    def price_cents(self) -> int:
        """Return the price in cents of a target to validate, which for a thread may be the sum of its posts' prices."""
        return sum(post_price_cents(self.account.platform, has_url=has_url) for has_url in self._billed)

    @cached_property
    def _billed(self) -> list[bool]:
        """Return for each post that a validated target is billed for (several for a thread) whether it contains a URL."""
        if self.sandbox:
            return []
        links_url = self.capabilities.links_url
        texts = texts_billed_by_platform(self.capabilities, self.shown_text, self.options)
        return [links_url is not None and self.cached(links_url, text) for text in texts]


@dataclass(frozen=True)
class TargetValidation:
    """The result of validating one target of a post: its issues, with the target that was validated."""

    target: TargetToValidate
    text_length: int
    issues: list[Issue]

    @property
    def valid(self) -> bool:
        return not any(issue.severity == "error" for issue in self.issues)

    def as_json(self) -> dict[str, Any]:
        """Return this TargetValidation (the result of validating one target) as JSON data for API responses."""
        return {
            "platform": self.target.account.platform,
            "connected_account_id": self.target.account.id,
            "valid": self.valid,
            "text_length": self.text_length,
            "text_limit": self.target.text_limit,
            "link_card_url": self.target.link_card_url,
            "poll": self.target.poll,
            "issues": [issue.as_json() for issue in self.issues],
        }


@dataclass(frozen=True)
class Validation:
    """The result of validating a post: a TargetValidation for each target, and issues of the post as a whole."""

    targets: list[TargetValidation]
    issues: list[Issue] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        return not self.errors

    @property
    def all_issues(self) -> list[Issue]:
        return [*self.issues, *(issue for target in self.targets for issue in target.issues)]

    @property
    def errors(self) -> list[Issue]:
        """Return the issues of the validated post that keep it from being published, without the warnings."""
        return [issue for issue in self.all_issues if issue.severity == "error"]

    @property
    def estimated_cost_cents(self) -> int:
        return sum(each.target.price_cents for each in self.targets)

    def as_json(self) -> dict[str, Any]:
        """Return this Validation of a post as JSON data for API responses, with the fields of ValidationSerializer."""
        return {
            "valid": self.valid,
            "estimated_cost_cents": self.estimated_cost_cents,
            "issues": [issue.as_json() for issue in self.issues],
            "targets": [target.as_json() for target in self.targets],
        }


def validate_targets(
    targets: Sequence[TargetToValidate], *, group_id: str = "", duplicates: Mapping[ContentKey, str] | None = None
) -> Validation:
    """Validate each target of a post against what its platform and account accept, and return the Validation.

    One query finds duplicates of earlier posts, unless the caller has found them (`duplicates`). `group_id` is the group that
    has this content already; it does not count as sent before. Raises PayloadTooLarge if the validation takes too much CPU
    time.
    """
    if duplicates is None:
        contents = [target.duplicate_detection_key for target in targets if target.shown_text or target.media]
        duplicates = duplicate_group_id_by_content(contents, ignored_group_id=group_id)
    checked = []
    for index, target in enumerate(targets):
        check_cpu_time()
        issues = _target_issues(target, f"targets[{index}]", duplicates)
        checked.append(TargetValidation(target, target.text_length, issues))
    return Validation(checked)


def _target_issues(target: TargetToValidate, path: str, earlier: Mapping[ContentKey, str]) -> list[Issue]:
    """Return all validation issues of one post target; `path` is the target's place in the request, such as `targets[0]`."""
    name, capabilities, options = target.account.platform, target.capabilities, target.options
    where, with_media = f"{path}.options", bool(target.media)
    return [
        *_account_issues(target, path),
        *_text_issues(target, path),
        *thread_issues(name, capabilities, target.shown_text, options, where, target.cached),
        *poll_issues(name, capabilities, options, where, with_media=with_media),
        *_media_issues(target),
        *_option_issues(target, where),
        *option_media_issues(capabilities.option_media, options, [each.media_info for each in target.media], where),
        *link_card_issues(name, capabilities, options, where, with_media=with_media),
        *_repeat_issues(target, path, earlier),
    ]


def _account_issues(target: TargetToValidate, path: str) -> list[Issue]:
    account = target.account
    if account.status == ConnectedAccount.Status.ACTIVE:
        return []
    where = f"{path}.connected_account_id"
    hint = RepairHint("reconnect_account", where, "Connect the account again (POST /accounts/connect); its id stays.")
    return [Issue("ACCOUNT_NEEDS_REAUTH", "error", where, f"The account is {account.status}.", repair_hint=hint)]


def _text_issues(target: TargetToValidate, path: str) -> list[Issue]:
    text, where = target.shown_text, f"{path}.text"
    issues = []
    if not text.strip() and target.poll is not None:
        hint = RepairHint("write_text", where, "Write the question as the text.")
        issues.append(Issue("TEXT_REQUIRED", "error", where, "The poll has no question.", repair_hint=hint))
    elif not text.strip() and not target.media:
        hint = RepairHint("write_text", where, "Write a text, or attach media.")
        issues.append(Issue("TEXT_REQUIRED", "error", where, "The post has neither text nor media.", repair_hint=hint))
    name, rules, scope = target.account.platform, target.capabilities.text, "; it holds for this target only"
    kinds = target.media_kinds
    return issues + length_issues(name, rules, text, where, target.options, target.cached, media=kinds, scope=scope)


def _media_issues(target: TargetToValidate) -> list[Issue]:
    name, rules = target.account.platform, target.capabilities.media_rules_for_options(target.options)
    assets = [attached.media_info for attached in target.media]
    alone = (asset_issues(name, rules, asset, f"media[{index}]") for index, asset in enumerate(assets))
    return [*itertools.chain.from_iterable(alone), *media_list_and_alt_text_issues(name, rules, assets)]


def _option_issues(target: TargetToValidate, where: str) -> list[Issue]:
    withheld = target.capabilities.withheld_options
    issues = [_withheld_issue(name, why, where) for name, why in withheld.items() if name in target.options]
    others = {name: value for name, value in target.options.items() if name not in withheld}
    for problem in first_schema_violations(target.capabilities.options, others):
        if is_reported_by_poll_issues(problem):
            continue
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.absolute_path)
        limit = problem.validator_value if isinstance(problem.validator_value, int) else None
        facts = {"option": _named(problem), "rule": problem.validator, "limit": limit, "missing": _missing(problem)}
        issues.append(Issue("OPTIONS_INVALID", "error", f"{where}{path}", problem.message[:500], facts=facts))
    return issues


def _named(problem: ValidationError) -> str:
    """Return the name, for a validation issue, of the post option (or its part) that violates the option's JSON Schema."""
    return _missing(problem) or next((step for step in reversed(problem.absolute_path) if isinstance(step, str)), "")


def _missing(problem: ValidationError) -> str:
    """Return the option (or part of one) that an option's JSON Schema requires and that is missing; otherwise ""."""
    if problem.validator != "required":
        return ""
    return next((each for each in problem.validator_value if problem.message.startswith(repr(each))), "")


def _withheld_issue(name: str, why: str, where: str) -> Issue:
    hint = RepairHint("remove_option", f"{where}.{name}", f"Leave the {name.replace('_', ' ')} out.")
    return Issue("OPTION_NOT_GRANTED", "error", hint.field, why, auto_fixable=True, repair_hint=hint)


def _repeat_issues(target: TargetToValidate, path: str, earlier: Mapping[ContentKey, str]) -> list[Issue]:
    group_id = earlier.get(target.duplicate_detection_key)
    if group_id is None:
        return []
    message = f"The same content was sent to this account within 24 hours, by {group_id}."
    return [Issue("DUPLICATE_CONTENT", "warning", f"{path}.text", message)]
