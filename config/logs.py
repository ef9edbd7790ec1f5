"""The formats of the service's log lines: JSON in production, plain text elsewhere (setting LOG_FORMAT).

Each line has the trace id, the caller and the workspace. Requests are identified by operation and ids, never by bodies,
queries or texts. A bearer token that appears in a line anyway, for example in an error's message, is removed.
"""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.json import JsonFormatter as BaseJsonFormatter

from config.environment import env

FORMATS = ("line", "json")
# The attributes of a log record that JSON lines contain besides the message.
LOGGED_FIELDS = ("trace_id", "actor", "workspace_id", "operation", "method", "status", "ms", "platform")
_SECRETS = re.compile(r"(sps_(?:key|agt|clm|usr|oat|ort|oac|odc)_|Bearer +)[^\s\"',;}]+")


def redact_secrets(text: str) -> str:
    """Return a log text in which this service's tokens, and all other bearer tokens, are hidden."""
    return _SECRETS.sub(r"\1…", text)


class PlainTextFormatter(logging.Formatter):
    """The log formatter that writes plain text for people, in which tokens are hidden."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_secrets(super().format(record))


class JsonFormatter(BaseJsonFormatter):
    """The formatter of log lines as JSON: `time`, `level`, `logger`, `message`, `exception` and LOGGED_FIELDS."""

    def __init__(self) -> None:
        super().__init__(
            ["asctime", "levelname", "name", "message", *LOGGED_FIELDS],
            rename_fields={"asctime": "time", "levelname": "level", "name": "logger", "exc_info": "exception"},
            json_default=str,
            json_ensure_ascii=False,
        )

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """Return a JSON log line's fields: the standard ones and the non-empty LOGGED_FIELDS; tokens in texts are hidden."""
        line = {name: log_data[name] for name in ("time", "level", "logger")}
        line["message"] = redact_secrets(log_data["message"])
        line |= {name: log_data[name] for name in LOGGED_FIELDS if log_data[name] not in (None, "", "-")}
        if "exception" in log_data:
            line["exception"] = redact_secrets(str(log_data["exception"]))
        return line


def logging_config() -> dict[str, Any]:
    """Return the logging configuration of all processes, made from LOG_FORMAT and LOG_LEVEL."""
    production = env.str("ENVIRONMENT", default="development") == "production"
    log_format, level = (
        env.str("LOG_FORMAT", default="json" if production else "line"),
        env.str("LOG_LEVEL", default="INFO"),
    )
    if log_format not in FORMATS:
        raise ImproperlyConfigured(f"LOG_FORMAT={log_format!r} is unknown: use {' or '.join(FORMATS)}.")
    quiet = ("axes", "celery.beat", "django_celery_beat", "celery.app.trace", "celery.worker.strategy")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"trace": {"()": "config.api.trace.TraceFilter"}},
        "formatters": {
            "line": {
                "()": "config.logs.PlainTextFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s %(trace_id)s %(message)s",
            },
            "json": {"()": "config.logs.JsonFormatter"},
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": log_format, "filters": ["trace"]}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "python_multipart": {"level": "ERROR"},  # it logs a warning for each malformed form
            "gunicorn.error": {"handlers": ["console"], "level": level, "propagate": False},
            **{name: {"level": "WARNING"} for name in quiet},
        },
    }
