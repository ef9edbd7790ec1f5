"""Makes the screenshots of the README, light and dark: `python -m pytest tests/browser/readme_screenshots.py`.

The Bluesky account is at the stand-in. Those at other platforms are sandbox accounts whose rows are changed into real ones.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from PIL import Image, ImageDraw, ImageFilter
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT, OpenPage
from tests.browser.page_checks import STOP_ANIMATIONS
from tests.browser.service import Service, Workspace
from tests.chaos.stack import wait_until
from tests.fakes.bluesky import FakeBluesky

SCREENSHOTS = ROOT / "docs/screenshots"
COLOR_SCHEMES: tuple[tuple[Literal["light", "dark"], str], ...] = (("light", ""), ("dark", "-dark"))  # with file name endings
HANDLE, APP_PASSWORD = "harbourbakery.example", "abcd-efgh-ijkl-mnop"
NAMES = {"mastodon": "@bakery@harbour.example", "linkedin": "Harbour Bakery"}
MAKE_ACCOUNTS_REAL = """
import hashlib
from accounts.models import Avatar, ConnectedAccount
from accounts.platforms.thumbnails import square_webp_or_none
from posts.models import PostGroup
for platform, (name, picture) in {accounts!r}.items():
    account = ConnectedAccount.objects.get(workspace={workspace!r}, platform=platform)
    content = square_webp_or_none(picture)
    account.handle = account.display_name = name
    account.sandbox, account.avatar_digest = False, hashlib.sha256(content).hexdigest()[:16]
    account.save()
    Avatar.objects.create(account=account, content=content, due_at="2099-01-01T00:00:00Z")
for group in PostGroup.objects.filter(workspace={workspace!r}, text__startswith="[sandbox:reject] "):
    group.text = group.text.removeprefix("[sandbox:reject] ")
    group.save()
"""


def logo(ground: str, loaf: str) -> bytes:
    """Draw a loaf with three cuts, as the picture of an account."""
    image = Image.new("RGB", (400, 400), ground)
    draw = ImageDraw.Draw(image)
    draw.ellipse((60, 120, 340, 300), fill=loaf)
    for left in (130, 190, 250):
        draw.line((left, 230, left + 40, 160), fill=ground, width=16)
    return _saved(image)


def loaves() -> bytes:
    """Draw loaves on a board, as the picture of a post."""
    image = Image.new("RGB", (1200, 800), "#5b4636")
    draw = ImageDraw.Draw(image)
    for place in range(6):
        left, top = 90 + 350 * (place % 3), 110 + 320 * (place // 3)
        draw.ellipse((left, top, left + 320, top + 240), fill="#8a4f1d")
        draw.ellipse((left + 14, top + 8, left + 306, top + 210), fill="#c98445")
        for cut in (80, 140, 200):
            draw.line((left + cut, top + 150, left + cut + 50, top + 60), fill="#f0d3a4", width=16)
    return _saved(image.filter(ImageFilter.GaussianBlur(3)))


def _saved(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()


def at(days: int, hour: int, minute: int = 0) -> str:
    moment = datetime.now(UTC).replace(hour=hour, minute=minute, second=0, microsecond=0) + timedelta(days=days)
    return moment.isoformat()


@pytest.fixture
def bakery(service: Service, bluesky: FakeBluesky) -> Workspace:
    """A bakery's workspace with accounts at three platforms, and posts of today and of the next days."""
    workspace = service.new_workspace("Harbour Bakery")
    mastodon, linkedin = (workspace.account(platform) for platform in NAMES)
    at_bluesky = connect_bluesky(workspace, bluesky)
    alt_text = "Six loaves on a board"
    picture = [{"media_id": workspace.upload(loaves(), "loaves.jpg", alt_text), "alt_text": alt_text}]
    workspace.post("The rye is out of the oven. Come by before it cools.", at_bluesky, mastodon, media=picture)
    workspace.post("The first stollen of the year.", at_bluesky)
    workspace.post("[sandbox:reject] We are looking for an apprentice from August.", linkedin)
    accounts = {
        "mastodon": (NAMES["mastodon"], logo("#20555c", "#f2e8d5")),
        "linkedin": (NAMES["linkedin"], logo("#7a2e3a", "#f4d9b8")),
    }
    script = MAKE_ACCOUNTS_REAL.format(accounts=accounts, workspace=workspace.id)
    service.stack.run("manage.py", "shell", "--no-imports", "-c", script)

    for days, hour, minute, text, targets in (
        (1, 8, 0, "Warm rolls from eight. First come, first served.", (at_bluesky, mastodon)),
        (2, 9, 30, "Behind the counter: how a sourdough is fed at five in the morning.", (at_bluesky, linkedin)),
        (2, 17, 0, "Two loaves left. Anyone?", (mastodon,)),
        (3, 9, 0, "New on the shelf: spelt with walnuts.", (at_bluesky, mastodon, linkedin)),
        (4, 12, 0, "Our flour comes from four kilometres away.", (linkedin,)),
        (5, 9, 0, "The stollen is back.", (at_bluesky, mastodon)),
        (5, 16, 30, "Order for the weekend until Friday noon.", (at_bluesky,)),
        (7, 8, 0, "Open tomorrow, too.", (mastodon,)),
        (8, 10, 0, "Baking with children at three. Flour on the floor is included.", (at_bluesky, linkedin)),
    ):
        media = picture if len(targets) > 1 else []
        workspace.post(text, *targets, scheduled_at=at(days, hour, minute), media=media)
    _, agent = workspace.new_agent("Newsroom agent", monthly_spend_cap_cents=500, posts_per_day_cap=20)
    workspace.post("May I tell everyone about the fair on the quay?", at_bluesky, mastodon, token=agent, media=picture)
    workspace.post("Shall we show the new oven?", linkedin, token=agent, scheduled_at=at(4, 10))
    post = {"text": "Rye of the week, no. {n}", "targets": [at_bluesky, mastodon]}
    rule = {"starts_at": at(1, 9)[:16], "timezone": "UTC", "rrule": "FREQ=WEEKLY;BYDAY=MO,FR"}
    workspace.call("POST", "/series", {"workspace_id": workspace.id, "name": "Rye of the week", "post": post, **rule})
    return workspace


def connect_bluesky(workspace: Workspace, bluesky: FakeBluesky) -> dict[str, str]:
    """Connect the account at the stand-in and wait for its picture; return it as the target of a post."""
    bluesky.add_account(HANDLE, APP_PASSWORD)
    bluesky.set_profile(HANDLE, "Harbour Bakery", logo("#b5651d", "#f6e3c0"))
    credentials = {"identifier": HANDLE, "app_password": APP_PASSWORD}
    slots = [{"weekday": day, "time": "15:00"} for day in ("tue", "thu", "sat", "sun")]
    asked = {"workspace_id": workspace.id, "platform": "bluesky", "method": "credentials", "credentials": credentials}
    account_id: str = workspace.call("POST", "/accounts/connect", asked)["account"]["id"]
    workspace.call("PUT", f"/accounts/{account_id}/slots", {"slots": slots, "timezone": "UTC"})
    return {"platform": "bluesky", "connected_account_id": account_id}


def take(page: Page, name: str) -> None:
    """Take a screenshot in light and in dark colours, with 256 colours, which makes the file small."""
    page.wait_for_load_state("networkidle")
    for scheme, ending in COLOR_SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.evaluate(STOP_ANIMATIONS)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        image.quantize(256, dither=Image.Dither.NONE).save(SCREENSHOTS / f"{name}{ending}.png", optimize=True)


def test_the_screenshots_of_the_readme_are_made(open_page: OpenPage, bakery: Workspace) -> None:
    home = f"/dashboard/workspaces/{bakery.id}"
    page = open_page(f"{home}/compose", viewport={"width": 1280, "height": 900})
    chip = page.locator(".chip", has_text=HANDLE)
    wait_until(lambda: bool(page.reload() and chip.locator("img").count()), "the picture of the account")
    next_week = datetime.now(UTC) + timedelta(days=2)
    for name, path in (
        ("home", ""),
        ("calendar", f"/calendar?view=week&date={next_week:%Y-%m-%d}"),
        ("approvals", "/approvals"),
        ("usage", "/usage"),
        ("series", "/series"),
    ):
        page.goto(f"{home}{path}")
        if name == "series":
            page.get_by_role("link", name="Rye of the week").first.click()
            expect(page.get_by_role("heading", level=1)).to_contain_text("Rye of the week")
        take(page, name)

    page.goto(f"{home}/compose")
    chip.click()
    page.locator(".chip", has_text=NAMES["mastodon"]).click()
    text = "New on the shelf: spelt with walnuts. #bread\n\nBaked at five, on the quay at seven."
    page.get_by_label("Text for all accounts").fill(text)
    expect(page.locator("#check > article")).to_have_count(2)
    expect(page.locator("#check-said")).to_contain_text("Valid for all accounts.")
    expect(page.locator("#draft-said")).to_contain_text("Saved")
    take(page, "compose")
