"""How many invitations a workspace may send and have open."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from tests.workspaces.test_invitations import ADDRESS, invite, words
from tests.workspaces.test_members import send
from workspaces.models import Invitation, User, Workspace


def test_invitations_are_rate_limited(workspace: Workspace, owner: User) -> None:
    """Ten at once; a slow run may be granted some more, since the allowance is refilled every six seconds."""
    for sent in range(40):
        answer = send(owner, workspace, "/invite", email=f"p{sent}@example.com", role="member")
        if "Too many requests" in words(answer):
            break

    assert 10 <= Invitation.objects.count() == sent < 39


def test_at_most_fifty_invitations_are_open(workspace: Workspace, owner: User) -> None:
    soon, past = timezone.now() + timedelta(days=1), timezone.now() - timedelta(days=1)
    for number in range(51):
        Invitation.objects.create(
            workspace=workspace,
            email=f"p{number}@example.com",
            role="member",
            token_sha256=str(number),
            invited_by=owner,
            expires_at=past if number == 50 else soon,
        )
    assert "The workspace already has 50 open invitations" in words(
        send(owner, workspace, "/invite", email=ADDRESS, role="member")
    )
    one = Invitation.objects.earliest("pk")
    send(owner, workspace, f"/invitations/{one.pk}/withdraw")
    invite(owner, workspace)
