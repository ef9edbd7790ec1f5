"""Every request that an adapter makes in these tests is checked against the platform's machine-readable document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.accounts.platforms.documents.watching import held_against_documents


@pytest.fixture(autouse=True)
def _held_against_documents(request: Any) -> Iterator[None]:
    """Fails a test whose requests the document does not allow. `@pytest.mark.beyond_the_document(why)` exempts one that has
    an adapter send what validation would have stopped."""
    if request.node.get_closest_marker("beyond_the_document"):
        yield
        return
    with held_against_documents():
        yield
