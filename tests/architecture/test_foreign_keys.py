"""Foreign keys point only to lower layers (import-linter does not see string references)."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db.models import Model

from tests.architecture.sources import package_of, points_downward

PACKAGE_OF = {model: package_of(model.__module__) for model in apps.get_models()}
OUR_MODELS = {model: package for model, package in PACKAGE_OF.items() if package}


def related(model: type[Model]) -> list[type[Model]]:
    """Return the models that a model refers to by foreign key, one-to-one or many-to-many fields."""
    fields = [field for field in model._meta.get_fields() if field.concrete]
    return [field.related_model for field in fields if isinstance(field.related_model, type)]


@pytest.mark.parametrize("model", OUR_MODELS, ids=lambda model: model._meta.label)
def test_foreign_keys_point_downward(model: type[Model]) -> None:
    ours = [other for other in related(model) if other in OUR_MODELS]
    above = [other._meta.label for other in ours if not points_downward(OUR_MODELS[model], OUR_MODELS[other])]

    assert above == []


def test_the_audit_log_has_no_foreign_keys() -> None:
    assert [related(model) for model in apps.get_app_config("auditlog").get_models()] == [[]]


def test_the_models_are_found() -> None:
    assert {"workspaces.User", "agents.Agent", "posts.PostTarget"} <= {model._meta.label for model in OUR_MODELS}
