"""The dataclass PollRules, which holds a platform's limits for polls.

The option `poll` itself and its validation are in accounts/platforms/polls.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PollRules:
    """A platform's rules for polls: the number and length of the choices, and the duration of voting.

    The post's text is the question. `count` counts a choice, in the unit `counted_as`. A duration is a multiple of
    `duration_step_minutes`; `open_ended`: it may be left out, and the poll stays open. `distinct`: a choice that repeats
    another is refused by the platform. `with_media`: a post with a poll may have media. `switches` are booleans of the option
    by name, each with what it does; `multiple` is the one that lets a voter choose several answers.
    """

    max_choices: int
    max_choice_length: int
    counted_as: str
    count: Callable[[str], int]
    min_duration_minutes: int
    max_duration_minutes: int
    min_choices: int = 2
    duration_step_minutes: int = 1
    open_ended: bool = False
    distinct: bool = False
    with_media: bool = False
    switches: Mapping[str, str] = field(default_factory=dict)

    @property
    def allows_multiple_answers(self) -> bool:
        """Return whether these PollRules let a voter choose several answers."""
        return "multiple" in self.switches

    def longest_allowed_duration_up_to(self, minutes: float) -> int:
        """Return the longest poll duration of at most `minutes` that these PollRules allow, or else the shortest one."""
        step = self.duration_step_minutes
        shortest = -(-self.min_duration_minutes // step) * step
        return int(min(max(shortest, minutes), self.max_duration_minutes) // step) * step
