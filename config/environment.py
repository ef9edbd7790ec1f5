"""Reads the environment and the optional `.env` file, and keeps the secrets that development makes for itself."""

from __future__ import annotations

import os
from pathlib import Path

import environ
from cryptography.fernet import Fernet

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")


def data_dir() -> Path:
    """The folder for everything that the service writes on this machine (`DATA_DIR`, default `var/`)."""
    path = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def secret(name: str, default: str = "") -> str:
    """A secret as it stands in the environment: a `$` in it is no reference to another variable."""
    return os.environ.get(name) or default


def seconds(name: str, default: str) -> tuple[int, ...]:
    """A comma-separated list of seconds, such as `10,30,120`."""
    return tuple(int(part) for part in env.str(name, default=default).split(",") if part.strip())


def price_list(default: str) -> dict[str, int]:
    """`PRICE_LIST` as cents by name: `default=1,x=2,x+url=20`."""
    pairs = (pair.partition("=") for pair in env.str("PRICE_LIST", default=default).split(","))
    return {name.strip(): int(cents) for name, _, cents in pairs}


def platform_settings() -> dict[str, str]:
    """The keys by which operators set a platform up: `<PLATFORM>_CLIENT_ID`, `_CLIENT_SECRET`, `_API_BASE`, `_AUTH_BASE`."""
    endings = ("_CLIENT_ID", "_CLIENT_SECRET", "_API_BASE", "_AUTH_BASE")
    return {name: value for name, value in os.environ.items() if name.endswith(endings)}


def development_secret(directory: Path, name: str) -> str:
    """A random secret of this data directory, made on first use and readable by its owner only.

    Two processes may start at once: the one that links its finished file first wins, the other reads that one.
    """
    path = directory / f"{name}.secret"
    if not path.exists():
        made = Fernet.generate_key().decode()
        draft = directory / f".{name}.{os.getpid()}"
        descriptor = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(made)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
