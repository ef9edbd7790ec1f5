"""Recurrence: rules of RFC 5545 and their occurrences in the local time of a zone, without models."""

from __future__ import annotations

from posts.recurrence.occurrences import Occurrence, Recurrence
from posts.recurrence.rule import InvalidRule, RecurrenceRule, parse_rule

__all__ = ["InvalidRule", "Occurrence", "Recurrence", "RecurrenceRule", "parse_rule"]
