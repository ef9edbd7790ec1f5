"""A post with only sandbox accounts is a sandbox post and needs any one of the write scopes."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.factories import AccountFactory
from tests.posts.rows import TOMORROW, body_for
from workspaces.models import User, Workspace


@pytest.mark.parametrize("scope", ["posts.draft", "posts.schedule", "posts.publish", "posts.read"])
def test_a_post_to_sandbox_accounts_needs_any_write_scope(
    key_with: Any, accounts: list[ConnectedAccount], clock: Any, scope: str
) -> None:
    bodies = [body_for(*accounts, **fields) for fields in ({"draft": True}, {"scheduled_at": TOMORROW}, {})]
    answers = [key_with(scope).post("/posts", body) for body in bodies]

    assert [answer.status_code for answer in answers] == [403 if scope == "posts.read" else 201] * 3
    assert PostGroup.objects.filter(sandbox=True).count() == PostGroup.objects.count() == (scope != "posts.read") * 3


def test_one_real_account_makes_the_post_real(key_with: Any, account: ConnectedAccount, workspace: Workspace) -> None:
    client, real = key_with("posts.draft"), AccountFactory(workspace=workspace, sandbox=False)

    assert_envelope(client.post("/posts", body_for(account, real)), 403, "SCOPE_MISSING")
    assert_envelope(client.post("/posts", body_for(real)), 403, "SCOPE_MISSING")
    assert not PostGroup.objects.exists()


def test_another_workspaces_sandbox_account_does_not_relax_the_scope(
    key_with: Any, account: ConnectedAccount, stranger: User
) -> None:
    foreign = AccountFactory(workspace=stranger.owned_workspaces.get())
    answers = [key_with("posts.draft").post("/posts", body_for(*targets)) for targets in ([foreign], [account, foreign])]

    for answer in answers:
        assert_envelope(answer, 403, "SCOPE_MISSING")
    assert not PostGroup.objects.exists()
