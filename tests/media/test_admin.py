"""Admin pages of the media library."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction
from django.test import Client

from config.db.ids import new_id
from media.models import MediaAsset
from media.services import set_media_used_by_post
from tests.conftest import ApiClient
from tests.console.operators import act, console_audit_entries
from tests.media.pictures import jpeg, png
from tests.people import console
from workspaces.models import User

LIST = "/admin/media/mediaasset/"
Stored = Callable[[], list[bytes]]


@pytest.fixture
def operator(transactional_db: None) -> Client:
    return console()


def test_assets_are_shown_and_cannot_be_changed(operator: Client, api: ApiClient) -> None:
    media = api.upload(jpeg()).json()["media"]

    for path in (LIST, f"{LIST}{media['id']}/change/", "/admin/media/mediause/"):
        assert operator.get(path).status_code == 200
    assert operator.post(f"{LIST}{media['id']}/change/", {"status": "deleted"}).status_code == 403


def test_an_operator_deletes_assets_that_no_post_uses(operator: Client, api: ApiClient, stored: Stored) -> None:
    free, used = (api.upload(content).json()["media"]["id"] for content in (jpeg(), png()))
    with transaction.atomic():
        set_media_used_by_post(holder_id=new_id("pgr"), media_ids=[used])
    messages = act(operator, "delete_assets", *MediaAsset.objects.all())

    assert f"Deleted: {free}." in messages
    assert any(line.startswith(f"{used}: An unfinished post uses this asset.") for line in messages)
    assert dict(MediaAsset.objects.values_list("pk", "status")) == {free: "deleted", used: "ready"}
    assert stored() == [png()]
    assert [entry[2:] for entry in console_audit_entries()].count((free, None)) == 1
    assert [entry[3] for entry in console_audit_entries()].count("MEDIA_IN_USE") == 1


def test_read_only_operators_are_not_offered_deletion(operator: Client, api: ApiClient) -> None:
    media_id = api.upload(jpeg()).json()["media"]["id"]
    User.objects.filter(username="operator").update(is_superuser=False)
    operator.post(LIST, {"action": "delete_assets", "_selected_action": [media_id], "confirmed": "yes"})

    assert MediaAsset.objects.get().status == "ready"
