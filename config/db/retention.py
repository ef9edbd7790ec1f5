"""The base classes of retention rules, which delete expired rows in small transactions.

Each app defines the rules for its own tables in its `retention` module. settings.RETENTION lists them, the highest layer
first, because rows of a higher layer refer to rows of a lower one. config/console/retention.py runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from django.db import transaction
from django.db.models import Model, QuerySet


class RetentionRule(Protocol):
    """A retention rule, which deletes one kind of expired rows; `name` identifies it in reports."""

    name: ClassVar[str]

    def count(self) -> int:
        """Return the number of rows that have expired by this retention rule."""

    def purge(self, limit: int) -> int:
        """Delete up to `limit` rows that this retention rule calls expired, in one short transaction; return their number."""


class ExpiredRows:
    """A retention rule that deletes the rows of a queryset; subclasses define `expired_rows`."""

    name: ClassVar[str]

    def expired_rows(self) -> QuerySet[Any]:
        """Return the rows that have expired by this retention rule."""
        raise NotImplementedError

    def deletable_rows(self) -> QuerySet[Any]:
        """Return the expired rows that this retention rule can delete now, in the order of deletion."""
        return self.expired_rows()

    def count(self) -> int:
        return self.expired_rows().order_by().count()

    def purge(self, limit: int) -> int:
        """Delete up to `limit` expired rows by this retention rule; rows that are locked now wait for the next run."""
        if not self.deletable_rows().exists():  # reading first takes no write lock
            return 0
        with transaction.atomic():
            chosen = self.deletable_rows().select_for_update(skip_locked=True, of=("self",))[:limit]
            pks = list(chosen.values_list("pk", flat=True))
            self.delete(pks)
        return len(pks)

    def delete(self, pks: Sequence[Any]) -> None:
        model: type[Model] = self.expired_rows().model
        model._default_manager.filter(pk__in=pks).delete()
