"""The settings of gunicorn, for the command `gunicorn -c python:config.gunicorn config.wsgi:application`.

The command line sets the address (`--bind`) and the number of processes (`--workers`).
"""

from __future__ import annotations

import os
from logging.config import dictConfig
from typing import Any

from gunicorn.glogging import Logger

from config.environment import env
from config.logs import logging_config


class ServiceLogger(Logger):
    """Gunicorn's logger class, which writes gunicorn's log lines in the format of the whole service."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        dictConfig(logging_config())


logger_class = ServiceLogger
worker_class = "config.runtime.gunicorn_worker.BufferedThreadWorker"
threads = env.int("WEB_THREADS", default=8)
worker_connections = 1000
# A worker whose main loop hangs this long is replaced. Requests run in threads and may take longer.
timeout = 30
# Less than the 8 s of the supervisor, so that gunicorn can still stop its workers.
graceful_timeout = 7
# Longer than the idle time of common load balancers (60 s), which would otherwise use a closing connection.
keepalive = 75
# The proxies whose X-Forwarded-Proto is trusted.
forwarded_allow_ips = env.str("FORWARDED_ALLOW_IPS", default="127.0.0.1,::1")
limit_request_line = 8190
# The workers' heartbeat files: on a slow disk they would make gunicorn kill healthy workers.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 (gunicorn unlinks the file at once)
control_socket_disable = True
