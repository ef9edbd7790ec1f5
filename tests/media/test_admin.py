"""The media library in the operators' console."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction
from django.test import Client

from auditlog.models import AuditEntry
from config.db.ids import new_id
from media.models import MediaAsset
from media.services import use_media
from tests.conftest import ApiClient
from tests.media.pictures import jpeg, png
from workspaces.models import User

LIST = "/admin/media/mediaasset/"
Stored = Callable[[], list[bytes]]


@pytest.fixture
def operator(transactional_db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client


def test_assets_are_shown_and_cannot_be_changed(operator: Client, api: ApiClient) -> None:
    media = api.upload(jpeg()).json()["media"]

    for path in (LIST, f"{LIST}{media['id']}/change/", "/admin/media/mediause/"):
        assert operator.get(path).status_code == 200
    assert operator.post(f"{LIST}{media['id']}/change/", {"status": "deleted"}).status_code == 403


def test_an_operator_deletes_what_no_post_needs(operator: Client, api: ApiClient, stored: Stored) -> None:
    free, used = (api.upload(content).json()["media"]["id"] for content in (jpeg(), png()))
    with transaction.atomic():
        use_media(holder_id=new_id("pgr"), media_ids=[used])
    page = operator.post(LIST, {"action": "delete_assets", "_selected_action": [free, used]}, follow=True)

    assert f"Deleted {free}." in page.content.decode()
    assert f"Kept {used}: A post that is not finished uses this asset." in page.content.decode()
    assert dict(MediaAsset.objects.values_list("pk", "status")) == {free: "deleted", used: "ready"}
    assert stored() == [png()]
    entry = AuditEntry.objects.get(operation="media.delete")
    assert (entry.actor_type, entry.resource_id) == ("system", free)


def test_who_only_looks_is_offered_no_deletion(operator: Client, api: ApiClient) -> None:
    media_id = api.upload(jpeg()).json()["media"]["id"]
    User.objects.filter(username="operator").update(is_superuser=False)
    operator.post(LIST, {"action": "delete_assets", "_selected_action": [media_id]})

    assert MediaAsset.objects.get().status == "ready"
