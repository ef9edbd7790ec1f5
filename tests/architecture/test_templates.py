"""Templates refer to lower layers and to their own app only, as imports do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.template import engines
from django.urls import URLPattern, URLResolver, get_resolver

from config.pages.navigation import all_dashboard_pages
from tests.architecture.sources import LAYERS, ROOT, package_of, points_downward

PLACES = [ROOT / "templates", *(ROOT / name.replace(".", "/") / "templates" for name in LAYERS)]
TEMPLATES = {str(path.relative_to(folder)): path for folder in PLACES for path in folder.rglob("*.*")}
# The package of each folder that is not named like its package.
FOLDERS = {
    "admin": "config.console",
    "dashboard": "workspaces",  # the frame of the pages (workspaces/workspace_page.py)
    "django": "config.pages",
    "drf_spectacular": "config.api",
    "home": "config.home",
    "notices": "config.notices",
    "pages": "config.pages",
}
TAG = re.compile(r"\{% *(url|load|include|extends) +(.*?) *%\}")
LINK_IF_PAGE_EXISTS = re.compile(r"\{% *link_if_page_exists +.([\w-]+)")
LIBRARIES = engines["django"].engine.libraries  # type: ignore[attr-defined]


def routes(resolver: URLResolver) -> Iterator[tuple[str, str]]:
    """Return (name, module of the view) of each named route outside the admin console."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            view: Any = pattern.callback
            yield pattern.name or "", getattr(view, "view_class", view).__module__
        elif pattern.namespace != "admin":
            yield from routes(pattern)


MODULES = dict(routes(get_resolver()))


def folder_package(template: str) -> str:
    folder = template.partition("/")[0]
    return FOLDERS.get(folder, folder)


def named(tag: str, argument: str) -> Iterator[tuple[str, str | None]]:
    """Return each name in a template tag with the package it belongs to; None for a name of another project."""
    if tag == "load":
        for library in argument.partition(" from ")[2].split() or argument.split():
            yield library, package_of(LIBRARIES[library])
    elif tag == "url" and argument[0] in "\"'":
        name = argument.split()[0].strip("\"'")
        yield name, "config.console" if name.startswith("admin:") else package_of(MODULES[name])
    else:
        for template in re.findall(r"[\w/]+\.html", argument):
            yield template, folder_package(template)


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_a_template_refers_to_lower_layers_only(template: str) -> None:
    own = folder_package(template)
    assert own in LAYERS
    upward = [
        f"{tag} {name}"
        for tag, argument in TAG.findall(TEMPLATES[template].read_text())
        for name, package in named(tag, argument)
        if package and not points_downward(own, package)
    ]

    assert upward == []


def test_every_conditional_page_link_names_a_registered_page() -> None:
    linked = {name for path in TEMPLATES.values() for name in LINK_IF_PAGE_EXISTS.findall(path.read_text())}

    assert linked
    assert linked - {entry.route for entry in all_dashboard_pages()} == set()
