"""Factories of rows for tests; each factory also creates the rows that it refers to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import factory
from factory.django import DjangoModelFactory

from accounts.models import ConnectedAccount
from agents.models import Agent
from agents.services import issue_key
from agents.tokens import new_development_user_token
from config.api.scopes import SCOPES
from media.models import MediaAsset
from workspaces.models import Member, User, Workspace


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User

    username = factory.Sequence(lambda number: f"person-{number}")
    email = factory.Sequence(lambda number: f"person-{number}@example.com")
    display_name = "A person"


class WorkspaceFactory(DjangoModelFactory):
    class Meta:
        model = Workspace
        skip_postgeneration_save = True

    name = "Workshop"
    slug = factory.Sequence(lambda number: f"workshop-{number}")
    owner_user = factory.SubFactory(UserFactory)

    @factory.post_generation
    def owner_is_member(self: Workspace, create: bool, extracted: Any, **kwargs: Any) -> None:
        Member.objects.create(workspace=self, user=self.owner_user, role="owner")


class AgentFactory(DjangoModelFactory):
    class Meta:
        model = Agent

    workspace = factory.SubFactory(WorkspaceFactory)
    owner_user = factory.SelfAttribute("workspace.owner_user")
    name = "Robot"
    scopes = factory.LazyFunction(lambda: list(SCOPES))
    default_mode = "allow_publish"


class AccountFactory(DjangoModelFactory):
    class Meta:
        model = ConnectedAccount

    workspace = factory.SubFactory(WorkspaceFactory)
    platform = "bluesky"
    method = "credentials"
    sandbox = True
    external_id = factory.Sequence(lambda number: f"sandbox-{number}")
    handle = "sandbox.bluesky"
    credentials = None
    tokens = None


class MediaAssetFactory(DjangoModelFactory):
    """A picture that every platform with pictures accepts. Its bytes are not in the storage."""

    class Meta:
        model = MediaAsset

    workspace = factory.SubFactory(WorkspaceFactory)
    kind = "image"
    filename = "bench.jpg"
    mime_type = "image/jpeg"
    size_bytes = 200_000
    sha256 = factory.Sequence(lambda number: f"{number:064x}")
    width = 1200
    height = 1200
    alt_text = "A bench in the workshop"
    scan_status = "clean"
    storage_key = factory.SelfAttribute("sha256")


def workspace_key(workspace: Workspace, scopes: Iterable[str] = SCOPES) -> str:
    """Create a workspace key and return its token."""
    issued = issue_key(workspace_id=workspace.id, name="A key", scopes=list(scopes))
    assert issued.token
    return issued.token


def agent_key(agent: Agent) -> str:
    """Create an agent key and return its token."""
    issued = issue_key(workspace_id=agent.workspace_id, name=agent.name, scopes=(), agent=agent)
    assert issued.token
    return issued.token


def user_token(user: User) -> str:
    """Return a development user token."""
    return new_development_user_token(user.id)
