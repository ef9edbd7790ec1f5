"""What rules are accepted, when an occurrence is, and that no rule takes long."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posts.recurrence import InvalidRule, Recurrence, parse_rule

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2027, 1, 1, tzinfo=UTC)

local = datetime.fromisoformat


def local_times(text: str, starts_at: datetime, until: datetime, *exdates: datetime) -> list[str]:
    recurrence = Recurrence(parse_rule(text), starts_at, BERLIN, frozenset(exdates))
    return [f"{each.local:%Y-%m-%d %H:%M}" for each in recurrence.occurrences(NOW, until)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "RFC 5545"),
        ("DAILY", "RFC 5545"),
        ("RRULE:FREQ=DAILY", "RFC 5545"),
        ("FREQ=DAILY;", "RFC 5545"),
        ("FREQ=DAILY\nEXDATE:20270101", "RFC 5545|FREQ"),
        ("FREQ=DAILY;FREQ=WEEKLY", "more than once"),
        ("INTERVAL=2", "FREQ must"),
        ("FREQ=HOURLY", "FREQ must"),
        ("FREQ=MINUTELY", "FREQ must"),
        ("FREQ=DAILY;BYSECOND=1", "BYSECOND is not supported"),
        ("FREQ=YEARLY;BYEASTER=0", "BYEASTER is not supported"),
        ("FREQ=DAILY;X-NAME=1", "X-NAME is not supported"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL must"),
        ("FREQ=DAILY;INTERVAL=99999999999999999999", "INTERVAL must"),
        ("FREQ=DAILY;COUNT=10001", "COUNT must"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270105T000000Z", "either COUNT or UNTIL"),
        ("FREQ=DAILY;UNTIL=20270105", "UNTIL must"),
        ("FREQ=DAILY;UNTIL=20270105T000000", "UNTIL must"),
        ("FREQ=DAILY;UNTIL=20270230T000000Z", "UNTIL must"),
        ("FREQ=DAILY;WKST=XX", "WKST must"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY must"),
        ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY must"),
        ("FREQ=YEARLY;BYMONTH=-1", "BYMONTH must"),
        ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY must"),
        ("FREQ=MONTHLY;BYDAY=54MO", "BYDAY must"),
        ("FREQ=MONTHLY;BYDAY=MON", "BYDAY must"),
        ("FREQ=MONTHLY;BYDAY=6MO", "at most 5"),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-6MO", "at most 5"),
        ("FREQ=WEEKLY;BYDAY=1MO", "numbered weekday"),
        ("FREQ=YEARLY;BYDAY=1MO;BYWEEKNO=1", "numbered weekday"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY does not go"),
        ("FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY does not go"),
        ("FREQ=MONTHLY;BYWEEKNO=1", "BYWEEKNO does not go"),
        ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS needs"),
        ("FREQ=DAILY;BYHOUR=1,2;BYSETPOS=3", "BYSETPOS counts"),
        ("FREQ=DAILY;BYHOUR=0,1,2,3,4;BYMINUTE=0,10,20,30,40", "more than 24"),
        ("FREQ=YEARLY;BYYEARDAY=" + ",".join(["1"] * 600), "1,000 characters"),
        ("FREQ=DAILY;BYHOUR=٣", "BYHOUR must"),
    ],
)
def test_rule_that_is_not_accepted_says_why(text: str, message: str) -> None:
    with pytest.raises(InvalidRule, match=message):
        parse_rule(text)


def test_names_and_values_may_be_lower_case() -> None:
    assert parse_rule("freq=weekly;byday=mo") == parse_rule("FREQ=WEEKLY;BYDAY=MO")


def test_start_is_an_occurrence_only_if_the_rule_matches_it() -> None:
    starts_at, until = local("2027-01-05 09:00"), datetime(2027, 1, 13, tzinfo=UTC)  # a Tuesday

    assert local_times("FREQ=WEEKLY;BYDAY=MO", starts_at, until) == ["2027-01-11 09:00"]
    assert local_times("FREQ=WEEKLY;BYDAY=TU", starts_at, until) == ["2027-01-05 09:00", "2027-01-12 09:00"]


def test_count_counts_what_has_passed_and_what_is_left_out() -> None:
    starts_at, until = local("2026-12-30 09:00"), datetime(2028, 1, 1, tzinfo=UTC)

    found = local_times("FREQ=DAILY;COUNT=5", starts_at, until, local("2027-01-02 09:00"))

    assert found == ["2027-01-01 09:00", "2027-01-03 09:00"]


def test_until_is_an_instant() -> None:
    starts_at, until = local("2027-01-01 09:00"), datetime(2028, 1, 1, tzinfo=UTC)

    assert len(local_times("FREQ=DAILY;UNTIL=20270103T080000Z", starts_at, until)) == 3
    assert len(local_times("FREQ=DAILY;UNTIL=20270103T075959Z", starts_at, until)) == 2


def test_times_at_one_instant_are_one_occurrence() -> None:
    """Clocks skip from 02:00 to 03:00 on 28 March 2027, so 02:00, 02:30 and 03:00 are the same instant."""
    recurrence = Recurrence(parse_rule("FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30"), local("2027-03-28 00:00"), BERLIN)
    window = (datetime(2027, 3, 28, tzinfo=UTC), datetime(2027, 3, 28, 3, tzinfo=UTC))

    found = list(recurrence.occurrences(*window))

    assert [f"{each.at:%H:%M}" for each in found] == ["01:00", "01:30"]
    assert [f"{each:%H:%M}" for each in recurrence.local_times_at(found[0].at)] == ["02:00", "02:30", "03:00"]


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
        "FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=5MO",
        "FREQ=DAILY;COUNT=10000;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYSETPOS=" + ",".join(map(str, range(300, 331))),
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=7",
    ],
)
def test_rule_without_occurrences_is_found_out_quickly(text: str) -> None:
    recurrence = Recurrence(parse_rule(text), local("2027-01-01 09:00"), BERLIN)
    began = time.process_time()

    assert recurrence.next_occurrence(NOW) is None
    assert time.process_time() - began < 1  # dateutil alone searches up to the year 9999, for 5 to 20 seconds


NUMBERS = {
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53),
    "BYSETPOS": (-366, 366),
}


@st.composite
def rules(draw: st.DrawFn) -> str:
    parts = [f"FREQ={draw(st.sampled_from(['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY']))}"]
    parts += draw(st.sampled_from([[], ["INTERVAL=2"], ["INTERVAL=7"], ["INTERVAL=1000"], ["COUNT=10000"]]))
    for name, limits in NUMBERS.items():
        if draw(st.integers(0, 3)) == 0:
            values = draw(st.lists(st.integers(*limits).filter(bool), min_size=1, max_size=31, unique=True))
            parts.append(f"{name}={','.join(map(str, values))}")
    if draw(st.booleans()):
        days = draw(
            st.lists(st.sampled_from(["MO", "1TU", "-1FR", "5SU", "-5SU", "SA"]), min_size=1, max_size=4, unique=True)
        )
        parts.append(f"BYDAY={','.join(days)}")
    return ";".join(parts)


@settings(deadline=None)
@given(rules())
def test_any_rule_is_refused_or_answered_quickly_and_in_order(text: str) -> None:
    try:
        recurrence = Recurrence(parse_rule(text), local("2017-05-31 09:30"), BERLIN)
    except InvalidRule:
        return
    began = time.process_time()

    found = [each.at for each in recurrence.occurrences(NOW, NOW + timedelta(days=3660))]

    assert time.process_time() - began < 1
    assert found == sorted(set(found))
