"""The models of the console app, defined in its subpackages."""

from __future__ import annotations

from config.console.operators.models import SecondFactor

__all__ = ["SecondFactor"]
