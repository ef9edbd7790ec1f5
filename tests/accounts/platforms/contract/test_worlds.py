from __future__ import annotations

from accounts.platforms.registry import PLATFORMS, get_adapter
from tests.accounts.platforms.contract.content import kinds_of, plainest
from tests.accounts.platforms.contract.worlds import WORLDS


def test_every_platform_of_the_registry_is_held_to_these_tests() -> None:
    """What is missing here has no world.py in its folder of tests."""
    assert [name for name in PLATFORMS if name not in WORLDS] == []


def test_a_world_agrees_with_its_platform() -> None:
    for name, world in WORLDS.items():
        assert world.name == name.partition("/")[0]
        assert world.method in get_adapter(world.name).methods
        assert world.finds is (get_adapter(world.name).capabilities.retry_safety != "at_most_once")
        assert set(world.finds_no) <= set(kinds_of(world)) - {plainest(world())}
        assert world.finds or not world.proves_absence
