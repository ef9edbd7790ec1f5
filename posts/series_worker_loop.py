"""The worker loop that makes the posts of series some days before their time."""

from __future__ import annotations

import logging

from config.db.outage import DATABASE_ERRORS
from config.jobs.claims import PauseAfterEmptySearch
from config.jobs.worker_loop import WorkerLoop
from posts.services.series import LOOP_NAME
from posts.services.series_occurrences import (
    apply_changes_of_claimed_series,
    claim_due_series,
    make_series_of_revoked_agents_due,
)

logger = logging.getLogger(__name__)
CLAIMED_AT_ONCE, MAX_REVOKED_AT_ONCE = 4, 100


class SeriesLoop(WorkerLoop):
    """The worker loop that makes the posts of series; an error in one series does not stop the others."""

    name = LOOP_NAME

    def __init__(self) -> None:
        super().__init__()
        self._pauses = PauseAfterEmptySearch()

    def run_once(self) -> bool:
        self._pauses(lambda: make_series_of_revoked_agents_due(MAX_REVOKED_AT_ONCE))
        claimed = claim_due_series(CLAIMED_AT_ONCE)
        for series in claimed:
            try:
                apply_changes_of_claimed_series(series)
            except DATABASE_ERRORS:
                raise
            except Exception:
                logger.exception("%s could not be processed; a worker tries again when its lease ends.", series.id)
        return bool(claimed)
