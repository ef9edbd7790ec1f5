"""The lock files hold what every supported version of Python needs, not only the version that locked them."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
VERSIONS = ["3.11.0", "3.11.9", "3.12.0", "3.13.0", "3.14.0"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("lock_file", ["requirements.txt", "requirements-dev.txt"])
def test_every_python_finds_its_dependencies_in_the_lock_file(lock_file: str, version: str) -> None:
    locked = set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / lock_file).read_text(), re.MULTILINE))
    environment = {"python_full_version": version, "python_version": ".".join(version.split(".")[:2]), "extra": ""}
    missing = {
        f"{name} needs {requirement.name}"
        for name in locked & {canonicalize_name(each.name) for each in metadata.distributions()}
        for requirement in map(Requirement, metadata.requires(name) or [])
        if requirement.marker is None or requirement.marker.evaluate(environment)
        if canonicalize_name(requirement.name) not in locked
    }
    assert not missing
