"""The page of notice channels: adding, changing, testing, pausing and removing them, and who may do that."""

from __future__ import annotations

from typing import Any

import pytest

from auditlog.models import AuditEntry
from config.api.caller import Caller
from config.api.errors import Conflict
from config.db.encryption import Ciphertext
from config.notices.channels import changes
from config.notices.models import ChannelKind, ChannelMessage, NoticeChannel
from tests import factories
from tests.in_threads import in_threads
from tests.notices.channels import Services, send_to_channels
from tests.notices.rounds import member
from tests.pages import Pages, has_form, words
from workspaces.models import User, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("running_clock")]
KINDS = ("slack", "telegram", "webhook")


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)


def add(pages: Pages, kind: str, destination: dict[str, str], **fields: Any) -> Any:
    form = {
        "key": f"key-{kind}-of-the-form",
        "name": "Team",
        "language": "en",
        "notice_kinds": ["approval", "post"],
        **destination,
        **fields,
    }
    return pages.post("notice-channel-add", form, follow=True, kind=kind)


def act(pages: Pages, action: str, channel: NoticeChannel) -> str:
    return words(pages.post(f"notice-channel-{action}", follow=True, channel_id=str(channel.pk)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_channel_is_added_and_tested(pages: Pages, services: Services, kind: str) -> None:
    destination = services.destination(kind)
    added = words(add(pages, kind, destination))
    channel = NoticeChannel.objects.get()
    tested = act(pages, "test", channel)
    send_to_channels()
    shown = pages.get("notice-channels")

    assert "The channel is added." in added
    assert (channel.destination, channel.notice_kinds, channel.name) == (destination, ["approval", "post"], "Team")
    assert "The test notice is on its way." in tested
    assert "Last notice sent:" in words(shown)
    assert all(secret not in shown.content.decode() for secret in destination.values() if secret != str(services.chat))
    operations = AuditEntry.objects.order_by("created_at", "pk").values_list("operation", "metadata")
    expected = {"kind": kind, "notices": ["approval", "post"]}
    assert [each for each in operations if each[0].startswith("notice_channels.")] == [
        ("notice_channels.create", expected),
        ("notice_channels.test", expected),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_says_that_the_secrets_of_a_channel_cannot_be_read(pages: Pages, services: Services, kind: str) -> None:
    channel = services.add(pages.workspace, kind)
    NoticeChannel.objects.update(destination=Ciphertext("not a secret"))
    tested = act(pages, "test", channel)
    send_to_channels()

    assert "The test notice is on its way." in tested
    assert "secrets cannot be read" in words(pages.get("notice-channels"))


@pytest.mark.parametrize(
    ("kind", "destination", "problem"),
    [
        ("slack", {"webhook_url": "https://hooks.slack.com.evil.example/services/T1/B1/x"}, "not the address"),
        ("slack", {"webhook_url": "https://example.com/services/T1/B1/x"}, "not the address"),
        ("slack", {"webhook_url": ""}, "This field is required."),
        ("telegram", {"bot_token": "7/../x", "chat_id": "1"}, "not the token of a bot"),
        ("telegram", {"bot_token": "7:abc", "chat_id": "news"}, "Enter the id of the chat"),
        ("webhook", {"url": "http://example.com/hook"}, "does not begin with https://"),
        ("webhook", {"url": "https://10.0.0.1/hook"}, "not public"),
    ],
)
def test_an_address_that_is_not_allowed_is_refused(
    pages: Pages, services: Services, kind: str, destination: dict[str, str], problem: str
) -> None:
    refused = add(pages, kind, destination)

    assert (refused.status_code, problem in words(refused)) == (422, True)
    assert not NoticeChannel.objects.exists()


def test_slack_addresses_are_those_of_slack(pages: Pages) -> None:
    address = "https://hooks.slack.com/services/T024BE7LD/B0000000001/abc"
    add(pages, "slack", {"webhook_url": address})

    assert NoticeChannel.objects.get().destination == {"webhook_url": address}


def test_a_channel_is_changed(pages: Pages, services: Services, workspace: Workspace) -> None:
    channel, other = services.add(workspace, "slack"), services.add(workspace, "webhook", name="Other")
    form = {"name": "Desk", "language": "de", "notice_kinds": ["budget"]}
    changed = pages.post("notice-channel", form, follow=True, channel_id=str(channel.pk))
    taken = pages.post("notice-channel", form, channel_id=str(other.pk))
    none = pages.post("notice-channel", {**form, "notice_kinds": []}, channel_id=str(channel.pk))

    assert "The channel is changed." in words(changed)
    channel.refresh_from_db()
    assert (channel.name, channel.language, channel.notice_kinds) == ("Desk", "de", ["budget"])
    assert (taken.status_code, "Another channel has this name." in words(taken)) == (422, True)
    assert none.status_code == 422


def test_the_language_of_a_new_channel_is_at_first_that_of_the_page(pages: Pages, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(language="es")

    assert pages.get("notice-channels").content.decode().count('<option value="es" selected>') == len(KINDS)


def test_a_channel_cannot_get_notices_in_an_unknown_language(pages: Pages, services: Services) -> None:
    assert add(pages, "slack", services.destination("slack"), language="tlh").status_code == 422


def test_a_paused_channel_gets_no_notices_and_no_tests(pages: Pages, services: Services, workspace: Workspace) -> None:
    channel = services.add(workspace, "webhook")
    act(pages, "test", channel)
    paused = act(pages, "pause", channel)
    refused = act(pages, "test", channel)
    send_to_channels()
    before = services.receiver.requests
    resumed = act(pages, "resume", channel)
    act(pages, "test", channel)
    send_to_channels()

    assert "The channel is paused." in paused
    assert "The channel is paused." in refused
    assert before == ()
    assert "The channel gets notices again." in resumed
    assert [each.json()["type"] for each in services.receiver.requests] == ["notice.test"]


def test_only_one_test_is_on_its_way(pages: Pages, services: Services, workspace: Workspace) -> None:
    channel = services.add(workspace, "webhook")
    act(pages, "test", channel)

    assert "still on its way" in act(pages, "test", channel)
    assert ChannelMessage.objects.count() == 1


def test_test_notices_of_a_workspace_are_rate_limited(pages: Pages, services: Services, workspace: Workspace) -> None:
    """Ten at once; a slow run may be granted some more, since the allowance is refilled every six seconds."""
    channels = [services.add(workspace, "webhook", name=str(number)) for number in range(2)]
    for sent in range(40):
        refusal = act(pages, "test", channels[sent % 2])
        if "on its way" not in refusal:
            break
        ChannelMessage.objects.update(due_at=None)  # it has arrived

    assert "Too many requests. Wait a minute, then try again." in refusal
    assert 10 <= ChannelMessage.objects.count() == sent < 39
    assert AuditEntry.objects.filter(operation="notice_channels.test", outcome="refused").count() == 1


def test_a_channel_is_removed_with_its_messages(pages: Pages, services: Services, workspace: Workspace) -> None:
    channel = services.add(workspace, "slack")
    act(pages, "test", channel)
    removed = act(pages, "remove", channel)

    assert "The channel is removed." in removed
    assert (NoticeChannel.objects.count(), ChannelMessage.objects.count()) == (0, 0)
    assert AuditEntry.objects.filter(operation="notice_channels.delete", resource_id=str(channel.pk)).exists()


def test_a_refused_channel_is_shown_on_the_page_and_at_home(pages: Pages, services: Services, workspace: Workspace) -> None:
    channel = services.add(workspace, "slack")
    act(pages, "test", channel)
    services.slack.remove_webhooks(services.slack_channel)
    send_to_channels()
    page, home = words(pages.get("notice-channels")), words(pages.get("home"))
    act(pages, "resume", channel)

    assert "Slack no longer accepts the webhook: no_service" in page
    assert "Notices no longer reach the channel The slack channel." in home
    assert "Notices no longer reach" not in words(pages.get("home"))


def test_a_workspace_has_at_most_ten_channels(pages: Pages, services: Services, workspace: Workspace) -> None:
    for number in range(changes.MAX_CHANNELS):
        services.add(workspace, "webhook", name=str(number))
    refused = add(pages, "webhook", services.destination("webhook"))

    assert (refused.status_code, "already has 10 channels" in words(refused)) == (409, True)
    assert NoticeChannel.objects.count() == changes.MAX_CHANNELS


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_do_not_exceed_the_limit(services: Services, workspace: Workspace, owner: User) -> None:
    for number in range(changes.MAX_CHANNELS - 1):
        services.add(workspace, "webhook", name=str(number))

    def add_one(number: int) -> bool:
        try:
            changes.add_channel(
                caller=Caller(kind="user", actor_id=owner.pk),
                workspace_id=workspace.id,
                kind=ChannelKind.WEBHOOK,
                name=f"New {number}",
                language="en",
                notice_kinds=["post"],
                destination={"url": services.receiver.url},
            )
        except Conflict:
            return False
        return True

    assert sorted(in_threads(3, add_one)) == [False, False, True]


def test_a_form_that_is_sent_twice_adds_one_channel(pages: Pages, services: Services) -> None:
    for _ in range(2):
        add(pages, "webhook", services.destination("webhook"))

    assert NoticeChannel.objects.count() == 1


@pytest.mark.parametrize("role", ["editor", "member"])
def test_members_without_the_role_neither_see_nor_change_channels(
    services: Services, workspace: Workspace, role: str
) -> None:
    channel = services.add(workspace, "slack", name="The secret channel")
    pages = Pages(workspace, member(workspace, role))
    shown = pages.get("notice-channels")
    add(pages, "webhook", services.destination("webhook"))
    for action in ("test", "pause", "remove"):
        act(pages, action, channel)

    assert "Only owners and admins" in words(shown)
    assert "The secret channel" not in words(shown)
    assert not has_form(shown, pages.address("notice-channel-add", kind="slack"))
    assert list(NoticeChannel.objects.values_list("pk", "paused_at")) == [(channel.pk, None)]
    assert not ChannelMessage.objects.exists()


def test_an_admin_may_change_channels(services: Services, workspace: Workspace) -> None:
    admin = Pages(workspace, member(workspace, "admin"))

    assert "The channel is added." in words(add(admin, "slack", services.destination("slack")))


def test_channels_of_other_workspaces_cannot_be_reached(pages: Pages, services: Services, stranger: User) -> None:
    theirs = services.add(factories.WorkspaceFactory.create(name="Other", owner_user=stranger), "webhook", name="Theirs")
    own = pages.get("notice-channels")
    change = pages.post(
        "notice-channel", {"name": "Mine", "language": "en", "notice_kinds": ["post"]}, channel_id=str(theirs.pk)
    )
    for action in ("test", "pause", "resume", "remove"):
        act(pages, action, theirs)

    assert "Theirs" not in words(own)
    assert change.status_code == 404
    theirs.refresh_from_db()
    assert (theirs.name, theirs.paused_at, ChannelMessage.objects.count()) == ("Theirs", None, 0)


def test_strangers_and_visitors_are_turned_away(workspace: Workspace, stranger: User) -> None:
    assert Pages(workspace, stranger).get("notice-channels").status_code == 404
    assert Pages(workspace, None).get("notice-channels")["location"].startswith("/dashboard/sign-in")
    assert Pages(workspace, workspace.owner_user, csrf=True).post("notice-channel-add", kind="slack").status_code == 403


def test_an_unknown_kind_does_not_exist(pages: Pages) -> None:
    assert pages.post("notice-channel-add", kind="fax").status_code == 404


def test_settings_link_to_the_page(pages: Pages) -> None:
    assert pages.address("notice-channels") in pages.get("settings").content.decode()
