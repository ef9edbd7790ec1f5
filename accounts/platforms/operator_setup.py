"""What has to be registered and brought before accounts of a platform can be connected.

Each platform has a value `SETUP` in a module `setup.py` beside its adapter. The capabilities endpoint, the pages of the
dashboard and docs/platforms.md read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OAUTH = "oauth"
REDIRECT_PATH = "/dashboard/connect/callback"  # where platforms send the owner's browser back to


@dataclass(frozen=True)
class PlatformApplication:
    """An application that the operator registers in the platform's developer portal.

    `connects` says which accounts it opens, `portal` is the https address where it is registered, `products` are what is
    added to it or switched on there. `redirect_path` follows BASE_URL. `scopes` are what owners are asked for unless a
    setting names others. `settings` take its id and its secret; `more_settings` change how it is used.
    `review` is what the platform checks before everybody may use the application, and `without_review` what is possible
    without that; both are empty where the platform checks nothing. `notes` are costs and limits.
    """

    connects: str
    portal: str
    products: tuple[str, ...]
    scopes: tuple[str, ...]
    settings: tuple[str, ...]
    more_settings: tuple[str, ...] = ()
    redirect_path: str = REDIRECT_PATH
    review: str = ""
    without_review: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OperatorSetup:
    """What the owner of an account brings, by method of connection, and the operator's applications for OAuth.

    Without applications the operator has nothing to register.
    """

    owner_brings: Mapping[str, str]
    applications: tuple[PlatformApplication, ...] = ()

    def applications_for(self, method: str) -> tuple[PlatformApplication, ...]:
        """The applications without which no account can be connected by this method. Credentials need none."""
        return self.applications if method == OAUTH else ()
