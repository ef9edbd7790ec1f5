"""People at a platform whom a post can mention, as a look-up by name or handle finds them.

Platforms without it document no such look-up for all applications, or have mentions that a text cannot express. X has one,
but charges $0.010 for each person in an answer (docs.x.com, pricing) and restricts mentions by applications.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_PEOPLE = 8  # that one look-up returns


@dataclass(frozen=True)
class Person:
    """A person or organization at a platform; `mention` is the handle to write in a post's text, such as @alice.example."""

    mention: str
    display_name: str = ""
