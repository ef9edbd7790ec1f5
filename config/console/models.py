"""The console's tables: the operators' second factors."""

from __future__ import annotations

from config.console.operators.models import SecondFactor

__all__ = ["SecondFactor"]
