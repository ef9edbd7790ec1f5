"""Rules that delete expired rows in small transactions, so that no hot table is locked for long.

Each app has the rules for its own rows in its `retention` module. settings.RETENTION names them, the highest layer first,
because rows of a higher layer refer to rows of a lower one. config/console/retention.py runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from django.db import transaction
from django.db.models import Model, QuerySet


class RetentionRule(Protocol):
    """One kind of rows that go when their time is over. `name` is how reports tell it."""

    name: ClassVar[str]

    def count(self) -> int:
        """How many rows would go by now."""

    def purge(self, limit: int) -> int:
        """Let up to `limit` rows go, in one short transaction; returns how many went."""


class ExpiredRows:
    """A rule whose rows are deleted; subclasses say which are over."""

    name: ClassVar[str]

    def rows(self) -> QuerySet[Any]:
        """What is over."""
        raise NotImplementedError

    def ready(self) -> QuerySet[Any]:
        """What of it nothing holds back any more; it comes in the order in which it is deleted."""
        return self.rows()

    def count(self) -> int:
        return self.rows().order_by().count()

    def purge(self, limit: int) -> int:
        """Rows that somebody else is writing at this moment are left for the next round."""
        if not self.ready().exists():  # a look costs no write lock
            return 0
        with transaction.atomic():
            chosen = self.ready().select_for_update(skip_locked=True, of=("self",))[:limit]
            pks = list(chosen.values_list("pk", flat=True))
            self.delete(pks)
        return len(pks)

    def delete(self, pks: Sequence[Any]) -> None:
        model: type[Model] = self.rows().model
        model._default_manager.filter(pk__in=pks).delete()
