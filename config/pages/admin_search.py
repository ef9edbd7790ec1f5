"""The search of the Django admin by exact values: ids, trace ids, SHA-256 digests and days.

Each search word is looked up in the indexed column for its kind. No search uses LIKE, so large tables stay fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.sites import AdminSite
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.db.ids import PrefixedIdField, lowest_id_at

TRACE, DIGEST, DAY = "trace", "sha256", "day"
ColumnOrCondition = str | Callable[[str], Q]  # a column to compare with the word, or a function that returns the condition

_TRACE = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_DAY = re.compile(r"20\d\d-\d\d-\d\d")
_ID = re.compile(r"([a-z]{2,4})_\w+")
_NAMES = {TRACE: _("a trace id"), DIGEST: _("a SHA-256"), DAY: _("a day such as 2027-03-10 (UTC)")}


def search_word_kind(word: str) -> str:
    """Return the kind of a search word in the Django admin: "trace", "sha256", "day", an id's prefix, or "" if unknown."""
    if _TRACE.fullmatch(word):
        return TRACE
    if _DIGEST.fullmatch(word):
        return DIGEST
    if _is_day(word):
        return DAY
    named = _ID.fullmatch(word)
    return named[1] if named else ""


class ExactSearchAdmin(admin.ModelAdmin):
    """The base ModelAdmin with a search by exact words; a row must match all words.

    `indexed_lookups` maps each kind of word to its indexed column. The row's own id and its creation day are added
    automatically when the primary key is a prefixed id; `id_prefix` gives the prefix when the key is a plain column.
    `unindexed_lookups` maps kinds to columns without an index, which only filter the rows found by another word.
    `search_fields` is Django's text search, for small tables.
    """

    indexed_lookups: ClassVar[Mapping[str, ColumnOrCondition]] = {}
    unindexed_lookups: ClassVar[Mapping[str, ColumnOrCondition]] = {}
    id_prefix: ClassVar[str] = ""

    def __init__(self, model: type[Model], site: AdminSite) -> None:
        super().__init__(model, site)
        key = model._meta.pk
        prefix = key.prefix if isinstance(key, PrefixedIdField) else self.id_prefix
        own: dict[str, ColumnOrCondition] = {prefix: "pk", DAY: partial(_made_on, prefix)} if prefix else {}
        self.found_by: dict[str, ColumnOrCondition] = {**own, **self.indexed_lookups}
        self.search_help_text = lazy(self._help_text, str)()  # type: ignore[misc]  # computed from the class attributes

    def get_search_fields(self, request: HttpRequest) -> Any:
        """Return the admin table's search fields; Django shows the search box only if there are any."""
        return self.search_fields or tuple(self.found_by)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the rows that match all words of an admin search; if a word cannot be searched, return none and say why."""
        words = [(search_word_kind(word), word) for word in search_term.split()]
        finding = [pair for pair in words if pair[0] in self.found_by]
        narrowing = [pair for pair in words if pair[0] in self.unindexed_lookups and pair not in finding]
        texts = [pair[1] for pair in words if pair not in finding + narrowing]
        if texts and not self.search_fields:
            why = gettext("This table cannot be searched by %(words)s.") % {"words": " ".join(texts)}
            return self._nothing(request, queryset, why)
        if narrowing and not finding:
            words_alone = " ".join(pair[1] for pair in narrowing)
            why = gettext("%(words)s alone would read the whole table.") % {"words": words_alone}
            return self._nothing(request, queryset, why)
        for kind, word in finding + narrowing:
            lookup = self.unindexed_lookups.get(kind) or self.found_by[kind]
            queryset = queryset.filter(Q(**{lookup: word}) if isinstance(lookup, str) else lookup(word))
        return super().get_search_results(request, queryset, " ".join(texts)) if texts else (queryset, False)

    def _nothing(self, request: HttpRequest, queryset: QuerySet[Any], why: str) -> tuple[QuerySet[Any], bool]:
        self.message_user(request, f"{why} {self.search_help_text}", messages.WARNING)
        return queryset.none(), False

    def _help_text(self) -> str:
        """Return the help text below the search box of an admin table."""
        texts = [str(field).partition("__")[0].replace("_", " ") for field in self.search_fields]
        found = [_name(kind) for kind in self.found_by]
        found += [gettext("words of %(columns)s") % {"columns": ", ".join(texts)}] if texts else []
        sentences = [gettext("Finds %(values)s.") % {"values": _joined_by_or(found)}] if found else []
        if self.unindexed_lookups:
            narrowing = _joined_by_or([_name(kind) for kind in self.unindexed_lookups])
            sentences.append(gettext("Together with one of these also %(values)s.") % {"values": narrowing})
        return " ".join(sentences)


def _name(kind: str) -> str:
    return str(_NAMES.get(kind, "")) or f"{kind}_…"


def _joined_by_or(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return gettext("%(values)s or %(last)s") % {"values": ", ".join(names[:-1]), "last": names[-1]}


def _made_on(prefix: str, day: str) -> Q:
    """Return the admin search's condition for rows created on a UTC day: a range of ids, which begin with a timestamp."""
    start = _start_of(day)
    return Q(pk__gte=lowest_id_at(prefix, start), pk__lt=lowest_id_at(prefix, start + timedelta(days=1)))


def _is_day(word: str) -> bool:
    """Return whether a word in the admin search is a valid day of this century."""
    try:
        return bool(_DAY.fullmatch(word) and _start_of(word))
    except ValueError:  # formatted as a date, but no such day exists
        return False


def _start_of(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
