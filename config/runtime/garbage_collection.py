"""The garbage collector in the web and worker processes: it runs often and briefly, so that no request waits for it."""

from __future__ import annotations

import gc

# A request leaves some hundred objects in reference cycles. With the threshold of the start (config/__init__.py), collecting
# 50,000 of them stops all threads for 30 to 100 ms; with this one, for 1 to 4 ms.
ALLOCATIONS_PER_COLLECTION = 2_000


def shorten_garbage_collections() -> None:
    """Exempt the objects made while the process started from garbage collection, and collect later ones in small steps."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION, 10, 10)
