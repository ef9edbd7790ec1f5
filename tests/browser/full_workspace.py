"""A workspace with posts in every status, an agent, a file and deliveries, so that no dashboard page is empty."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.browser.service import Service, Workspace
from tests.chaos.stack import wait_until
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.receiver import Receiver
from tests.media.pictures import jpeg

HANDLE, APP_PASSWORD = "harbour.test", "abcd-efgh-ijkl-mnop"
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3


@dataclass(frozen=True)
class FullWorkspace:
    """A workspace with rows for every page. `ids` maps the names of URL parameters, and statuses of posts, to ids."""

    workspace: Workspace
    ids: dict[str, str]


def create_full_workspace(service: Service, bluesky: FakeBluesky) -> FullWorkspace:
    """Create the workspace. Its Bluesky account is connected to the stand-in; all other accounts are sandbox accounts."""
    workspace = service.new_workspace("Harbour Bakery")
    mastodon, linkedin = workspace.account("mastodon"), workspace.account("linkedin")
    did = bluesky.add_account(HANDLE, APP_PASSWORD)
    real = connect_bluesky(workspace, HANDLE)
    picture = workspace.upload(jpeg(1200, 800, colour="peru"), "loaves.jpg", "Six loaves on a wooden board")
    attached = [{"media_id": picture, "alt_text": "Six loaves on a wooden board"}]
    soon = (datetime.now(UTC) + timedelta(hours=30)).isoformat()
    agent_id, agent_key = workspace.new_agent("Newsroom agent", monthly_spend_cap_cents=500, posts_per_day_cap=20)
    with Receiver() as receiver:
        published = workspace.post(
            "The rye is out of the oven.", real, mastodon, media=attached, webhook_url=f"{receiver.url}/events"
        )
        delivered = _wait_for_delivery(workspace, "delivered")
    groups = {
        "published": published,
        "failed": workspace.post("[sandbox:reject] A post that is refused", mastodon, linkedin),
        "unconfirmed": workspace.post("[sandbox:unknown] Nobody knows", mastodon),
        "scheduled": workspace.post("Open on Sunday from eight.", mastodon, linkedin, scheduled_at=soon, media=attached),
        "draft": workspace.post(f"A word that never ends: {LONG_WORD}", mastodon, draft=True),
        "waiting": workspace.post("May I tell everyone about the fair?", mastodon, token=agent_key, media=attached),
    }
    workspace.post("And this one for Sunday?", linkedin, token=agent_key, scheduled_at=soon)
    ids = {state: group["id"] for state, group in groups.items()}
    deliveries = {"delivery_id": delivered, "dead_letter": _create_dead_letter(workspace, mastodon)}
    account = {"account_id": real["connected_account_id"], "agent_id": agent_id, "media_id": picture, "did": did}
    return FullWorkspace(workspace, {**ids, **deliveries, **account, "series_id": _create_series(workspace, real, mastodon)})


def _create_series(workspace: Workspace, *targets: dict[str, str]) -> str:
    """Create a series that begins in a month, so that it makes no posts yet."""
    begins = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}T09:00"
    post = {"text": "Rye of the week, no. {n}", "texts": ["Rye again, {date}"], "targets": list(targets)}
    rule = {"starts_at": begins, "timezone": "Europe/Berlin", "rrule": "FREQ=WEEKLY;BYDAY=MO,FR"}
    body = {"workspace_id": workspace.id, "name": "Rye of the week", "post": post, **rule}
    series_id: str = workspace.call("POST", "/series", body)["series"]["id"]
    return series_id


def connect_bluesky(workspace: Workspace, handle: str) -> dict[str, str]:
    """Connect an account of the Bluesky stand-in with the app password APP_PASSWORD; return it as the target of a post."""
    credentials = {"identifier": handle, "app_password": APP_PASSWORD}
    asked = {"workspace_id": workspace.id, "platform": "bluesky", "method": "credentials", "credentials": credentials}
    return {
        "platform": "bluesky",
        "connected_account_id": workspace.call("POST", "/accounts/connect", asked)["account"]["id"],
    }


def _create_dead_letter(workspace: Workspace, target: dict[str, str]) -> str:
    with Receiver(otherwise=410) as gone:
        workspace.post("For a receiver that has gone", target, webhook_url=f"{gone.url}/events")
        return _wait_for_delivery(workspace, "dead_letter")


def _wait_for_delivery(workspace: Workspace, status: str) -> str:
    """Wait for a delivery with this status and return the id of the newest."""
    path = f"/webhooks/deliveries?workspace_id={workspace.id}&status={status}"
    wait_until(lambda: bool(workspace.call("GET", path)["deliveries"]), f"a delivery that is {status}")
    newest: str = workspace.call("GET", path)["deliveries"][0]["id"]
    return newest
