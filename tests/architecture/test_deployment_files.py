"""Deployment files and operators' pages name only existing settings, commands, options, routes and links."""

from __future__ import annotations

import configparser
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.urls import Resolver404, resolve
from packaging.specifiers import SpecifierSet

from agents.tokens import AGENT_KEY_PREFIX, CLAIM_TOKEN_PREFIX, WORKSPACE_KEY_PREFIX, generate_token
from tests.fakes.clamd import FakeClamd

ROOT = Path(settings.BASE_DIR)
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
OURS = {name: each for name, each in COMPOSE["services"].items() if "social-publishing" in each["image"]}
UNITS = sorted((ROOT / "docs/systemd").iterdir())
EXAMPLE = (ROOT / "docs/production.env.example").read_text()
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# What gunicorn and the database's image read themselves.
OTHERS_SETTINGS = {"WEB_CONCURRENCY", "POSTGRES_PASSWORD"}
COMMAND = re.compile(r"(?:\bmanage |manage\.py )([a-z_]+)((?: --?[a-z-]+)*)")
CODE = re.compile(r"```sh\n(.*?)```|`([^`\n]+)`", re.DOTALL)


def unit(path: Path) -> configparser.ConfigParser:
    """Parse a unit file into sections; of a repeated name the last line counts."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


def settings_of_example() -> dict[str, str]:
    return dict(re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, re.MULTILINE))


def commands() -> Iterator[list[str]]:
    """Return the commands that containers and systemd units run, as lists of words."""
    for each in OURS.values():
        yield each.get("command", [])
    for line in re.findall(r"^(?:    )?CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE):
        yield yaml.safe_load(line)
    for path in UNITS:
        if path.suffix == ".service":
            yield shlex.split(unit(path)["Service"]["ExecStart"])


def code_in_pages() -> Iterator[tuple[str, str]]:
    """Return (page, code) for every piece of code in the pages."""
    for page in PAGES:
        for block, span in CODE.findall(page.read_text()):
            yield page.name, block or span


def test_deployment_files_use_existing_settings() -> None:
    described = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", (ROOT / "README.md").read_text()))
    read = "".join(path.read_text() for path in (ROOT / "config").rglob("*.py"))
    given = set(settings_of_example()) | {name for each in OURS.values() for name in each.get("environment", {})}
    for path in UNITS:
        given |= set(re.findall(r"([A-Z_]+)=", unit(path).get("Service", "Environment", fallback="")))
    platforms = {name for name in given if name.endswith(("_CLIENT_ID", "_CLIENT_SECRET")) and "OIDC" not in name}
    plans = {name for name in given if name.startswith("STRIPE_PRICE_")}

    assert given - OTHERS_SETTINGS - platforms - described == set()
    unread = {name for name in given - OTHERS_SETTINGS - platforms - plans if f'"{name}"' not in read}
    assert unread == set()


def test_deployment_files_run_existing_commands() -> None:
    programs = Path(sys.executable).parent
    ran = [words for words in commands() if words]
    for words in ran:
        assert (programs / Path(words[0]).name).exists(), words
        if "manage.py" in words:
            assert words[words.index("manage.py") + 1] in get_commands()
        for word in words:
            if word.startswith("python:") or word == "config.celery":
                assert __import__(word.removeprefix("python:"))

    assert len(ran) >= 7


def test_commands_and_options_in_the_documentation_exist() -> None:
    wrong = []
    for page, code in code_in_pages():
        for name, options in COMMAND.findall(code):
            if name not in get_commands():
                wrong.append(f"{page}: {name}")
                continue
            app = get_commands()[name]
            command: Any = app if isinstance(app, BaseCommand) else load_command_class(app, name)
            accepted = command.create_parser("manage.py", name)._option_string_actions
            wrong += [f"{page}: {name} {option}" for option in options.split() if option not in accepted]

    assert wrong == []


def test_routes_and_modules_in_the_documentation_exist() -> None:
    wrong = []
    for page, code in code_in_pages():
        for path in re.findall(r"(?<![\w.>])/(?:ops/|posts|auth|workspaces|healthz|readyz|metrics)[\w/{}$?=%-]*", code):
            try:
                resolve(urlsplit(re.sub(r"\$\w+|\{\w+\}", "x", path)).path)
            except Resolver404:
                wrong.append(f"{page}: {path}")
        for module in re.findall(r"python -m (tests[\w.]+)", code):
            if not (ROOT / module.replace(".", "/")).with_suffix(".py").exists():
                wrong.append(f"{page}: {module}")

    assert wrong == []


def test_links_in_the_documentation_have_a_target() -> None:
    wrong = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link and not (page.parent / link).exists():
                wrong.append(f"{page.name}: {link}")

    assert wrong == []


def test_the_image_uses_the_projects_python_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    versions = re.findall(r"^FROM python:([\d.]+)-slim", (ROOT / "Dockerfile").read_text(), re.MULTILINE)

    assert len(versions) == 2
    assert set(versions) == {project["tool"]["mypy"]["python_version"]}
    assert all(version in SpecifierSet(project["project"]["requires-python"]) for version in versions)


def test_the_build_context_contains_only_what_the_service_needs() -> None:
    """The Docker build context includes only the service's packages, not tests, secrets or data."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    opened = {line[1:] for line in lines if line.startswith("!")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}

    assert lines[0] == "*"
    assert opened == packages | {"templates", "docs/skill", "manage.py", "requirements.txt", "LICENSE"}


@pytest.mark.parametrize("name", OURS)
def test_containers_run_with_least_privileges(name: str) -> None:
    each = OURS[name]

    assert (each["read_only"], each["cap_drop"], each["security_opt"]) == (True, ["ALL"], ["no-new-privileges:true"])
    assert "privileged" not in each
    assert all(port.startswith("127.0.0.1:") for port in each.get("ports", []))
    # Each waits for the database, or for the migrations that do.
    assert {"migrate", "postgres"} & set(each["depends_on"])


@pytest.mark.parametrize("path", [path for path in UNITS if path.suffix == ".service"], ids=lambda path: path.stem)
def test_units_run_without_privileges(path: Path) -> None:
    service = unit(path)["Service"]

    assert service["User"] not in ("", "root")
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert service["CapabilityBoundingSet"] == ""
    assert service["StateDirectory"] in service["Environment"]  # DATA_DIR is what it may write


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        here = path.read_text().replace("/opt/social-publishing/current/.venv", sys.prefix)
        (tmp_path / path.name).write_text(here.replace("/opt/social-publishing/current", str(ROOT)))
    command = ["systemd-analyze", "verify", *(str(tmp_path / path.name) for path in UNITS)]

    result = subprocess.run(command, capture_output=True, text=True, timeout=60)

    ours = [line for line in (result.stdout + result.stderr).splitlines() if "social-publishing" in line]
    assert ours == []


def test_production_with_the_example_settings_passes_the_checks(tmp_path: Path) -> None:
    """`check --deploy` passes once the empty settings are filled in."""
    given = dict(re.findall(r"^([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
    given |= {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "ADMIN_TOKEN": "a" * 64,
    }
    given |= {f"MEDIA_MAX_{kind}_BYTES": "2000000" for kind in ("IMAGE", "VIDEO", "DOCUMENT")}  # quick to check
    given |= {"ENVIRONMENT": "production", "MEDIA_SCANNER": "clamav", "DATA_DIR": str(tmp_path)}
    with FakeClamd() as clamd:
        result = subprocess.run(
            [sys.executable, "-W", "ignore", "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **given, "CLAMAV_ADDRESS": clamd.address},
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert (result.returncode, result.stderr) == (0, "")
    assert "no issues" in result.stdout


@pytest.mark.parametrize("kind", [WORKSPACE_KEY_PREFIX, AGENT_KEY_PREFIX, CLAIM_TOKEN_PREFIX])
def test_the_published_pattern_matches_all_tokens(kind: str) -> None:
    [pattern] = re.findall(r"^sps_\(.*$", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)

    assert re.fullmatch(pattern, generate_token(kind))
