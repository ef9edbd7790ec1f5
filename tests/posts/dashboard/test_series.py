"""The pages of series: their list, one series, and the form with its preview."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from accounts.models import ConnectedAccount
from posts.dashboard.series_rule import form_values_of_rule, rule_from_form_values, rule_in_words
from posts.models import PostGroup, Series
from tests import factories
from tests.conftest import ApiClient
from tests.people import as_user
from tests.posts.dashboard.dashboard import Dashboard, fields, words
from tests.posts.rows import create
from tests.posts.series.rows import change, create_series, days_made, read_series, run_series_loop
from tests.posts.series.test_making import WEEK_OF_DAILY
from workspaces.models import Member, User, Workspace

BERLIN = ZoneInfo("Europe/Berlin")


class SeriesPages:
    """The owner's browser on the pages of series."""

    def __init__(self, dashboard: Dashboard) -> None:
        self.dashboard, self.http = dashboard, dashboard.http

    def address(self, name: str, series: Any = None) -> str:
        named = {"workspace_id": self.dashboard.workspace.id}
        return reverse(name, kwargs=named | ({"series_id": series["id"]} if series else {}))

    def get(self, name: str, series: Any = None, **query: str) -> Any:
        return self.http.get(self.address(name, series), query)

    def post(self, name: str, series: Any = None, **form: Any) -> Any:
        return self.http.post(self.address(name, series), form)

    def save(self, page: str, series: Any = None, **form: Any) -> Any:
        """Preview what is entered, then save it by the plan that was shown."""
        preview = self.send(page, series, {**form, "preview": "1"})
        assert preview.status_code == 200, words(preview)
        return self.send(page, series, {**form, "plan_hash": fields(preview, "plan_hash")[0]})

    def send(self, page: str, series: Any, form: dict[str, Any]) -> Any:
        return self.http.post(self.address(page, series), form)


@pytest.fixture
def pages(dashboard: Dashboard) -> SeriesPages:
    return SeriesPages(dashboard)


def entered(*accounts: ConnectedAccount, **more: Any) -> dict[str, Any]:
    """What is entered in the form: by default, every day at 09:00 in Berlin."""
    start = {"day": "2027-03-08", "time": "09:00", "timezone": "Europe/Berlin"}
    plain = {"key": "k", "text": "Hello {n}", "repeats": "daily", "ends": "never", "interval": "1"}
    return {**plain, **start, "accounts": [account.id for account in accounts], **more}


def test_a_preview_shows_the_next_posts_and_the_price_of_each_month(pages: SeriesPages, workspace: Workspace) -> None:
    real = factories.AccountFactory(workspace=workspace, sandbox=False)

    shown = words(pages.post("series-new", preview="1", **entered(real)))

    assert "Every day , each for $0.01." in shown
    assert "Thu, 11 Mar 2027, 09:00 Hello 1 $0.01" in shown
    assert "Sat, 20 Mar 2027, 09:00 Hello 10 $0.01" in shown
    assert "March 2027: 21 posts, $0.21" in shown
    assert "April 2027: 30 posts, $0.30" in shown
    assert not Series.objects.exists()


def test_a_series_is_created_as_it_was_previewed(pages: SeriesPages, account: ConnectedAccount) -> None:
    form = entered(account, name="Morning", texts="Two\n---\nThree", repeats="weekly", weekdays=["MO", "FR"], interval="2")

    assert pages.save("series-new", **form).status_code == 303

    series = Series.objects.get()
    assert (series.name, series.rrule) == ("Morning", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR")
    assert (series.starts_at, series.timezone) == ("2027-03-08T09:00", "Europe/Berlin")
    assert (series.post["text"], series.post["texts"]) == ("Hello {n}", ["Two", "Three"])
    run_series_loop()
    assert PostGroup.objects.get().text == "Hello 1"


def test_what_was_not_previewed_is_not_created(pages: SeriesPages, account: ConnectedAccount) -> None:
    preview = pages.post("series-new", preview="1", **entered(account))
    plan_hash = fields(preview, "plan_hash")[0]

    changed = pages.post("series-new", plan_hash=plan_hash, **entered(account, text="Other"))
    unseen = pages.post("series-new", **entered(account))

    assert (changed.status_code, unseen.status_code) == (422, 422)
    assert "Preview it again." in words(changed)
    assert not Series.objects.exists()


def test_a_form_that_is_sent_twice_creates_one_series(pages: SeriesPages, account: ConnectedAccount) -> None:
    form = entered(account)
    plan_hash = fields(pages.post("series-new", preview="1", **form), "plan_hash")[0]

    for _ in range(2):
        assert pages.post("series-new", plan_hash=plan_hash, **form).status_code == 303

    assert Series.objects.count() == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"accounts": []}, "Choose at least one account."),
        ({"repeats": "weekly"}, "Choose at least one day."),
        ({"repeats": "other"}, "Write the rule."),
        ({"repeats": "other", "rrule": "FREQ=HOURLY"}, "FREQ must be one of"),
        ({"ends": "date"}, "Choose the last day."),
        ({"ends": "date", "until": "2027-03-01"}, "no occurrence"),
        ({"ends": "count"}, "Say how many posts."),
        ({"text": ""}, ""),
    ],
)
def test_wrong_input_is_said(pages: SeriesPages, account: ConnectedAccount, more: dict[str, Any], said: str) -> None:
    answer = pages.post("series-new", preview="1", **entered(account, **more))

    assert answer.status_code == 422
    assert said in words(answer)


def test_a_post_is_repeated_with_its_content(
    pages: SeriesPages, api: ApiClient, account: ConnectedAccount, dashboard: Dashboard
) -> None:
    group = create(api, account, text="From a post", texts=["Own text"], draft=True)
    assert f"?post={group['id']}" in dashboard.get("post", group).content.decode()
    shown = pages.get("series-new", post=group["id"])
    assert "From a post" in words(shown)

    address = f"{pages.address('series-new')}?post={group['id']}"
    form = entered(account, text="From a post")
    plan_hash = fields(pages.http.post(address, {**form, "preview": "1"}), "plan_hash")[0]
    pages.http.post(address, {**form, "plan_hash": plan_hash})

    assert Series.objects.get().post["targets"][0]["text"] == "Own text"


def test_the_pages_show_a_series(pages: SeriesPages, api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account, name="Morning", post={"text": "One {date}", "texts": ["Two"]})
    run_series_loop()

    assert "Morning Every day next 11 Mar 2027, 08:00" in words(pages.get("series"))
    assert 'class="platform-mark"' in pages.get("series").content.decode()
    shown = words(pages.get("series-one", series))
    assert "Thu, 11 Mar 2027, 09:00 Scheduled nothing" in shown
    assert "Thu, 18 Mar 2027, 09:00 Two nothing" in shown
    assert "Fri, 19 Mar 2027, 09:00 One 2027-03-19 nothing" in shown


def test_why_a_post_is_not_scheduled_is_said(pages: SeriesPages, api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account)
    ConnectedAccount.objects.filter(pk=account.pk).update(status="needs_reauth")
    run_series_loop()

    assert "7 posts could not be scheduled." in words(pages.get("series"))
    assert "or one of them has to be connected again. It is tried again until its time." in words(
        pages.get("series-one", series)
    )


@pytest.mark.parametrize("stays_as_viewer", [True, False])
def test_a_maker_who_may_no_longer_write_is_named_as_the_reason(
    pages: SeriesPages, workspace: Workspace, account: ConnectedAccount, stays_as_viewer: bool
) -> None:
    membership = Member.objects.create(workspace=workspace, user=factories.UserFactory(), role="editor")
    series = create_series(as_user(membership.user), account, workspace_id=workspace.id)
    if stays_as_viewer:
        Member.objects.filter(pk=membership.pk).update(role="member")
    else:
        membership.delete()
    run_series_loop()

    assert "The person who made the series may no longer write posts in the workspace." in words(
        pages.get("series-one", series)
    )


def test_a_series_is_paused_resumed_and_ended(pages: SeriesPages, api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account)
    run_series_loop()

    pages.post("series-status", series, pause="1")
    assert read_series(api, series)["status"] == "paused"
    pages.post("series-status", series, resume="1")
    assert read_series(api, series)["status"] == "active"
    pages.post("series-end", series)
    assert read_series(api, series)["status"] == "ended"
    assert days_made(series, status="cancelled") == WEEK_OF_DAILY
    assert "End series" not in words(pages.get("series-one", series))


def test_a_post_is_left_out(pages: SeriesPages, api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account)
    run_series_loop()

    pages.post("series-skip", series, at=fields(pages.get("series-one", series), "at")[0])

    assert days_made(series, status="cancelled") == WEEK_OF_DAILY[:1]
    assert pages.post("series-skip", series, at="never").status_code == 303  # the page says what is wrong


def test_a_series_is_edited_by_its_preview(pages: SeriesPages, api: ApiClient, account: ConnectedAccount) -> None:
    series = create_series(api, account, name="Morning", rrule="FREQ=MONTHLY;BYDAY=-1FR;COUNT=12")
    shown = pages.get("series-edit", series).content.decode()
    assert 'value="month-weekday" required' in shown or "checked" in shown
    form = {"text": "New", "accounts": [account.id], "name": "Evening", "repeats": "daily", "ends": "never"}

    assert pages.save("series-edit", series, apply_to_scheduled="on", **form).status_code == 303

    changed = read_series(api, series)
    assert (changed["name"], changed["rrule"], changed["post"]["text"]) == ("Evening", "FREQ=DAILY", "New")


def test_an_edit_after_others_have_changed_the_series_is_refused(
    pages: SeriesPages, api: ApiClient, account: ConnectedAccount
) -> None:
    series = create_series(api, account)
    form = {"text": "New", "accounts": [account.id], "repeats": "daily", "ends": "never"}
    plan_hash = fields(pages.post("series-edit", series, preview="1", **form), "plan_hash")[0]
    change(api, series, rrule="FREQ=WEEKLY;BYDAY=MO")

    answer = pages.post("series-edit", series, plan_hash=plan_hash, **form)

    assert (answer.status_code, read_series(api, series)["post"]["text"]) == (422, "Hello")


def test_what_the_form_does_not_show_is_kept(pages: SeriesPages, api: ApiClient, account: ConnectedAccount) -> None:
    post = {"metadata": {"kind": "greeting"}, "webhook_url": "https://hooks.example.com/a"}
    series = create_series(api, account, post=post)
    form = {"text": "New", "accounts": [account.id], "repeats": "daily", "ends": "never"}

    pages.save("series-edit", series, **form)

    kept = read_series(api, series)["post"]
    assert {name: kept[name] for name in post} == post


def test_series_of_other_workspaces_are_not_found(pages: SeriesPages, owner: User, account: ConnectedAccount) -> None:
    """Neither those of strangers, nor those of another workspace of the same person."""
    other_workspace = factories.WorkspaceFactory()
    Member.objects.create(workspace=other_workspace, user=owner, role="admin")
    foreign = factories.AccountFactory(workspace=other_workspace)
    series = create_series(as_user(owner), foreign, workspace_id=other_workspace.id)

    for name in ("series-one", "series-edit"):
        assert pages.get(name, series).status_code == 404
    for name in ("series-status", "series-end", "series-skip"):
        pages.post(name, series, pause="1")
    assert Series.objects.get(pk=series["id"]).status == "active"
    assert series["id"] not in pages.get("series").content.decode()


def test_viewers_see_series_but_cannot_change_them(
    workspace: Workspace, teammate: User, api: ApiClient, account: ConnectedAccount, clock: Any
) -> None:
    series = create_series(api, account)
    pages = SeriesPages(Dashboard(workspace, teammate))

    assert pages.get("series-one", series).status_code == 200
    assert "Pause" not in words(pages.get("series-one", series))
    assert pages.get("series-new").status_code == 409
    pages.post("series-end", series)
    assert read_series(api, series)["status"] == "active"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=DAILY", "Every day"),
        ("FREQ=DAILY;INTERVAL=3;COUNT=5", "Every 3 days, 5 times"),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR", "Every week on Monday, Wednesday and Friday"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "Every month on the last day"),
        ("FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=15", "Every 2 months on day 15"),
        ("FREQ=MONTHLY;BYDAY=1MO", "Every month on the first Monday"),
        ("FREQ=DAILY;UNTIL=20270630T215959Z", "Every day, until 30 June 2027"),
        ("FREQ=DAILY;UNTIL=20270630T120000Z", "By the rule FREQ=DAILY;UNTIL=20270630T120000Z"),
        ("FREQ=YEARLY", "By the rule FREQ=YEARLY"),
        ("FREQ=WEEKLY", "By the rule FREQ=WEEKLY"),
        ("FREQ=MONTHLY;BYDAY=5MO", "By the rule FREQ=MONTHLY;BYDAY=5MO"),
    ],
)
def test_rules_are_said_in_words_and_stay_as_they_are(rule: str, said: str) -> None:
    assert rule_in_words(rule, BERLIN) == said
    assert rule_from_form_values(form_values_of_rule(rule, BERLIN), BERLIN) == rule
