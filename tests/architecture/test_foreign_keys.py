"""Foreign keys point downward, as imports do (import-linter cannot see a foreign key that is a string)."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db.models import Model

# The layers from the bottom up, by app label. Billing and webhooks share one and do not refer to each other.
LAYERS = [
    ("config", "api", "jobs", "pages"),
    ("auditlog",),
    ("workspaces",),
    ("agents",),
    ("billing", "webhooks"),
    ("accounts",),
    ("media",),
    ("posts",),
    ("console", "notices"),
]
LAYER_OF = {label: layer for layer, labels in enumerate(LAYERS) for label in labels}
OUR_MODELS = [
    model
    for model in apps.get_models()
    if Path(model._meta.app_config.path).is_relative_to(settings.BASE_DIR)
    and ".venv" not in Path(model._meta.app_config.path).parts
]


def related(model: type[Model]) -> list[type[Model]]:
    """The models that it has foreign keys to, one-to-one and many-to-many fields included."""
    fields = [field for field in model._meta.get_fields() if field.concrete]
    return [field.related_model for field in fields if isinstance(field.related_model, type)]


@pytest.mark.parametrize("model", OUR_MODELS, ids=lambda model: model._meta.label)
def test_foreign_keys_point_downward(model: type[Model]) -> None:
    own = model._meta.app_label
    above = [
        other._meta.label
        for other in related(model)
        if other in OUR_MODELS and other._meta.app_label != own and LAYER_OF[other._meta.app_label] >= LAYER_OF[own]
    ]

    assert above == []


def test_the_audit_log_points_to_nothing() -> None:
    assert [related(model) for model in apps.get_app_config("auditlog").get_models()] == [[]]


def test_the_models_are_there() -> None:
    assert {"workspaces.User", "agents.Agent", "posts.PostTarget"} <= {model._meta.label for model in OUR_MODELS}
