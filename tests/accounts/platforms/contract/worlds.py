"""The worlds of all platforms that have one, by the registry's names, and those of other software that speaks a
platform's API, by the platform's name and its own: `mastodon/takahe`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from accounts.platforms.registry import PLATFORMS
from tests.accounts.platforms.contract.world import World

FOLDER = "tests.accounts.platforms"


def _worlds() -> dict[str, type[World]]:
    modules = {name: f"{FOLDER}.{name}.world" for name in PLATFORMS if find_spec(f"{FOLDER}.{name}")}
    found = {}
    for name, path in modules.items():
        if find_spec(path):
            module = import_module(path)
            found[name] = module.PlatformWorld
            found |= {f"{name}/{software}": world for software, world in getattr(module, "OTHER_SOFTWARE", {}).items()}
    return found


WORLDS = _worlds()


@contextmanager
def world_of(name: str, settings: Any) -> Iterator[World]:
    """The platform's world with its stand-in running, and the settings made to point at it."""
    world = WORLDS[name]()
    with world.server:
        settings.OUTBOUND_ALLOW_LOOPBACK = True
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, **world.settings()}
        yield world
