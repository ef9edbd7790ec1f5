"""PUT and GET /accounts/{id}/slots, and the instants of slots when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.slots import slot_occurrences
from auditlog.models import AuditEntry
from config.db.ids import new_id
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.people import as_user
from workspaces.models import User

MON, FRI = {"weekday": "mon", "time": "09:00"}, {"weekday": "fri", "time": "17:30"}


def put(client: ApiClient, account: ConnectedAccount, **body: Any) -> Any:
    return client.request("PUT", f"/accounts/{account.id}/slots", {"timezone": "Europe/Berlin", "slots": [MON, FRI], **body})


def test_slots_are_replaced_sorted_and_read(api: ApiClient, account: ConnectedAccount) -> None:
    path = f"/accounts/{account.id}/slots"
    assert api.get(path).json() == {"slots": {"timezone": None, "slots": []}}
    late = {"weekday": "mon", "time": "21:00"}

    answer = put(api, account, slots=[FRI, late, MON, FRI])

    assert answer.json() == api.get(path).json() == {"slots": {"timezone": "Europe/Berlin", "slots": [MON, late, FRI]}}
    assert put(api, account, timezone="UTC", slots=[]).json() == {"slots": {"timezone": "UTC", "slots": []}}
    entry = AuditEntry.objects.filter(operation="accounts.update_slots").latest("pk")
    assert (entry.resource_id, entry.metadata) == (account.id, {"slots": 0, "timezone": "UTC"})


def test_a_dry_run_and_the_plan_hash(api: ApiClient, account: ConnectedAccount) -> None:
    preview = put(api, account, dry_run=True).json()

    assert (preview["operation"], preview["would_update"]["slots"]) == ("accounts.update_slots", [MON, FRI])
    assert api.get(f"/accounts/{account.id}/slots").json()["slots"]["timezone"] is None
    body = {"timezone": "Europe/Berlin", "slots": [MON]}
    changed = api.request("PUT", f"/accounts/{account.id}/slots", body, Plan_Hash=preview["plan_hash"])
    assert_envelope(changed, 409, "PLAN_CHANGED")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"timezone": "Berlin"}, "timezone"),
        ({"slots": [{"weekday": "monday", "time": "09:00"}]}, "slots[0].weekday"),
        ({"slots": [MON, {"weekday": "mon", "time": "9:00"}]}, "slots[1].time"),
        ({"slots": [{"weekday": "mon", "time": "24:00"}]}, "slots[0].time"),
        ({"slots": [{"weekday": "mon", "time": "09:00\n"}]}, "slots[0].time"),
        ({"slots": [MON] * 101}, "slots"),
        ({"slots": None}, "slots"),
    ],
)
def test_invalid_slots_are_refused(api: ApiClient, account: ConnectedAccount, body: dict[str, Any], field: str) -> None:
    assert [row["field"] for row in assert_envelope(put(api, account, **body), 422, "VALIDATION_FAILED")["details"]] == [
        field
    ]


def test_who_may_change_and_read_slots(
    key_with: Any, agent_client: Any, account: ConnectedAccount, teammate: User, stranger: User
) -> None:
    path = f"/accounts/{account.id}/slots"
    assert_envelope(put(key_with("accounts.read"), account), 403, "SCOPE_MISSING")
    assert_envelope(put(as_user(teammate), account), 403, "FORBIDDEN")
    assert_envelope(put(agent_client(account_allowlist=[new_id("acc")]), account), 403, "ACCOUNT_NOT_ALLOWED")
    for url in (path, f"{path}/next"):
        assert as_user(teammate).get(url).status_code == 200
        foreign = assert_envelope(as_user(stranger).get(url), 404, "NOT_FOUND")
        absent = assert_envelope(as_user(stranger).get(url.replace(account.id, new_id("acc"))), 404, "NOT_FOUND")
        assert {**foreign, "trace_id": ""} == {**absent, "trace_id": ""}
    assert_envelope(put(as_user(stranger), account), 404, "NOT_FOUND")
    assert ConnectedAccount.objects.get(pk=account.pk).slots == []
    assert put(key_with("accounts.write"), account).status_code == 200


@pytest.mark.parametrize(
    ("zone", "slot", "after", "expected"),
    [
        # Clocks go from 02:00 to 03:00 on 28 March 2027, so 02:30 is the first instant after the gap.
        ("Europe/Berlin", ("sun", "02:30"), "2027-03-27", ["2027-03-28T01:00Z", "2027-04-04T00:30Z"]),
        # Clocks go back from 03:00 to 02:00 on 31 October 2027, so 02:30 comes twice: the first, in summer time.
        ("Europe/Berlin", ("sun", "02:30"), "2027-10-30", ["2027-10-31T00:30Z", "2027-11-07T01:30Z"]),
        ("America/New_York", ("sun", "02:30"), "2027-03-13", ["2027-03-14T07:00Z", "2027-03-21T06:30Z"]),
        ("America/New_York", ("sun", "01:30"), "2027-11-06", ["2027-11-07T05:30Z", "2027-11-14T06:30Z"]),
        # Half an hour on Lord Howe: 02:00 becomes 02:30 on 3 October 2027.
        ("Australia/Lord_Howe", ("sun", "02:15"), "2027-10-02", ["2027-10-02T15:30Z", "2027-10-09T15:15Z"]),
        # Samoa left out 30 December 2011, a Friday.
        ("Pacific/Apia", ("fri", "09:00"), "2011-12-29", ["2011-12-30T10:00Z", "2012-01-05T19:00Z"]),
        ("UTC", ("mon", "00:00"), "2027-03-09", ["2027-03-15T00:00Z", "2027-03-22T00:00Z"]),
    ],
)
def test_skipped_and_repeated_local_times(zone: str, slot: tuple[str, str], after: str, expected: list[str]) -> None:
    weekday, time = slot
    account = ConnectedAccount(slot_timezone=zone, slots=[{"weekday": weekday, "time": time}])
    begin = datetime.fromisoformat(after).replace(tzinfo=UTC)

    found = [f"{each.at:%Y-%m-%dT%H:%M}Z" for each in islice(slot_occurrences(account, after=begin), 2)]

    assert found == expected


def test_two_slots_at_one_instant_are_one() -> None:
    slots = [{"weekday": "sun", "time": time} for time in ("02:00", "02:30", "03:00", "03:01")]
    account = ConnectedAccount(slot_timezone="Europe/Berlin", slots=slots)
    found = list(slot_occurrences(account, after=datetime(2027, 3, 28, 0, 30, tzinfo=UTC)))

    assert [f"{each.at:%H:%M} {each.local:%H:%M}" for each in found[:2]] == ["01:00 02:00", "01:01 03:01"]
    assert all(later.at - one.at > timedelta(0) for one, later in pairwise(found))
