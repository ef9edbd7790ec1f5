"""Base classes of the apps' retention rules: a rule deletes old database rows in small transactions.

Each app defines the rules for its own tables in its `retention` module. settings.RETENTION lists them, the highest layer
first, because rows of a higher layer refer to rows of a lower one. config/console/retention_run.py runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from django.db import transaction
from django.db.models import Model, QuerySet


class RetentionRule(Protocol):
    """A retention rule, which deletes rows of one kind when they are old enough; `name` identifies the rule in reports."""

    name: ClassVar[str]

    def count(self) -> int:
        """Return how many database rows have expired by this RetentionRule."""

    def purge(self, limit: int) -> int:
        """Delete up to `limit` expired rows of this retention rule in a short transaction, and return their number."""


class ExpiredRowsRule:
    """A retention rule that deletes the rows of a queryset; a subclass defines the queryset in `expired_rows`."""

    name: ClassVar[str]

    def expired_rows(self) -> QuerySet[Any]:
        """Return the queryset of rows that have expired by this retention rule; every subclass must define it."""
        raise NotImplementedError

    def next_rows_to_delete(self) -> QuerySet[Any]:
        """Return the expired rows that this retention rule deletes next, in that order: all, or a part in some subclasses."""
        return self.expired_rows()

    def count(self) -> int:
        return self.expired_rows().order_by().count()

    def purge(self, limit: int) -> int:
        """Delete up to `limit` rows that have expired by this retention rule, except rows locked by other transactions."""
        if not self.next_rows_to_delete().exists():  # reading first takes no write lock
            return 0
        with transaction.atomic():
            chosen = self.next_rows_to_delete().select_for_update(skip_locked=True, of=("self",))[:limit]
            pks = list(chosen.values_list("pk", flat=True))
            self.delete(pks)
        return len(pks)

    def delete(self, pks: Sequence[Any]) -> None:
        model: type[Model] = self.expired_rows().model
        model._default_manager.filter(pk__in=pks).delete()
