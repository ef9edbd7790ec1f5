"""Post options that a platform accepts only with certain media: a reel, for example, needs one video."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accounts.platforms.errors import ContentRejected
from accounts.platforms.issues import Issue, issue_with_hint

if TYPE_CHECKING:
    from accounts.platforms.types import Content, MediaInfo, MediaKind


@dataclass(frozen=True)
class OptionMediaRule:
    """A platform's rule that a post with an option needs one file of certain `kinds`, or no media if `kinds` is empty.

    `because` is a sentence for people. The rule may hold only for one `value` of the option. A video lasts at least
    `min_seconds` and at most `max_seconds`, as far as its duration is known.
    """

    option: str
    because: str
    kinds: tuple[MediaKind, ...] = ()
    value: str | None = None
    min_seconds: int | None = None
    max_seconds: int | None = None

    @property
    def advice(self) -> str:
        """Return the advice for API clients whose post breaks this OptionMediaRule."""
        return f"Leave `{self.option}` out, or change the media."

    def is_broken_by(self, options: Mapping[str, Any], media: Sequence[MediaInfo]) -> bool:
        """Return whether a post with these options and media breaks this OptionMediaRule."""
        if self.option not in options or (self.value is not None and options[self.option] != self.value):
            return False
        if not self.kinds:
            return bool(media)
        if len(media) != 1 or media[0].kind not in self.kinds:
            return True
        milliseconds = media[0].duration_ms
        if milliseconds is None:
            return False
        too_short = self.min_seconds is not None and milliseconds < self.min_seconds * 1000
        return too_short or (self.max_seconds is not None and milliseconds > self.max_seconds * 1000)


def option_media_issues(
    rules: Iterable[OptionMediaRule], options: Mapping[str, Any], media: Sequence[MediaInfo], field: str
) -> list[Issue]:
    """Return the validation issues of options that do not go with a post's media; `field` is the path of the options."""
    issues = []
    for rule in rules:
        if rule.is_broken_by(options, media):
            where, facts = f"{field}.{rule.option}", {"option": rule.option, "because": rule.because}
            issues.append(
                issue_with_hint("OPTION_NOT_WITH_MEDIA", where, rule.because, "remove_option", rule.advice, **facts)
            )
    return issues


def raise_if_options_do_not_fit_media(content: Content, rules: Iterable[OptionMediaRule]) -> None:
    """Raise ContentRejected just before a post is published if one of its options does not go with its media.

    Validation reports the same issues when the post is created, but rules may have changed since then.
    """
    for rule in rules:
        if rule.is_broken_by(content.options, content.media):
            raise ContentRejected(rule.because, suggested_action=rule.advice)
