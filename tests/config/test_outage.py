"""Writes that are repeated while the database is down (config/db/outage.py)."""

from __future__ import annotations

import pytest
from django.db import OperationalError, transaction

from config.db import outage
from config.db.outage import retry_while_database_down


class Write:
    """A write that fails the given number of times, then returns its argument."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def __call__(self, value: str) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise OperationalError("down")
        return value


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "RETRY_SECONDS", 0.0)


@pytest.mark.django_db(transaction=True)
def test_a_write_is_repeated_until_the_database_is_up() -> None:
    write = Write(failures=3)

    assert retry_while_database_down(write, "tokens") == "tokens"
    assert write.calls == 4


@pytest.mark.django_db(transaction=True)
def test_after_30_seconds_of_outage_the_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "MAX_OUTAGE_SECONDS", 0.01)

    with pytest.raises(OperationalError):
        retry_while_database_down(Write(failures=10**9), "tokens")


@pytest.mark.django_db(transaction=True)
def test_nothing_is_repeated_inside_a_transaction() -> None:
    write = Write(failures=1)

    with pytest.raises(OperationalError), transaction.atomic():
        retry_while_database_down(write, "tokens")
    assert write.calls == 1
