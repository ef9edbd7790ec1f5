"""Fixtures of a program that connects by OAuth, and of the owner's browser."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.oauth_programs import Program, browser_of
from workspaces.models import User, Workspace


@pytest.fixture
def program(db: None) -> Program:
    """A program that has registered itself."""
    made = Program()
    assert made.register().status_code == 201
    return made


@pytest.fixture
def local_program(db: None) -> Program:
    """A program on the person's own computer that has registered itself."""
    made = Program(callback="http://127.0.0.1:4000/callback")
    assert made.register().status_code == 201
    return made


@pytest.fixture
def browser(workspace: Workspace, owner: User) -> Client:
    return browser_of(owner)
