"""What the processes of the service load when they start, each in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT

SETTINGS_LATER = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}


def loaded_by(source: str) -> str:
    """Run Python code as a process that has no settings yet, and return what it prints."""
    ran = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, env=SETTINGS_LATER, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.parametrize("module", ["config.gunicorn", "config.runtime.gunicorn_worker", "config.celery"])
def test_what_servers_load_first_needs_no_settings(module: str) -> None:
    """gunicorn and Celery read these modules before Django's settings are known."""
    assert loaded_by(f"import {module}; print('loaded')") == "loaded"


def test_a_process_without_pages_does_not_load_them() -> None:
    """The modules of all pages are a fifth of what `manage.py up` and the worker would load."""
    setup = "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; import django; django.setup()"
    loaded = loaded_by(f"{setup}; print(*sys.modules)").split()
    pages = [name for name in loaded if name.endswith((".views", ".urls", ".admin", ".dashboard"))]
    apps = {"accounts", "agents", "auditlog", "billing", "config", "media", "posts", "webhooks", "workspaces"}

    assert "posts.models" in loaded
    assert [name for name in pages if name.split(".")[0] in apps] == []
