"""What the service's operator and the owners of accounts must set up before accounts of a platform can be connected.

Each platform's adapter has a value `SETUP` as its `setup`. The capabilities endpoint, the pages of the dashboard and
docs/platforms.md read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OAUTH = "oauth"


@dataclass(frozen=True)
class PlatformApplication:
    """An OAuth application that the operator of the service registers in a platform's developer portal.

    `connects` says which accounts it can connect, `portal` is the https address where it is registered, `products` are what
    is added to it or switched on there. `redirect_path` follows BASE_URL. `scopes` are what owners are asked for unless a
    setting names others. `settings` take its id and its secret; `more_settings` change how it is used. `review` is what the
    platform checks before everybody may use the application, and `without_review` what is possible without that; both are
    empty where the platform checks nothing. `notes` are costs and limits.
    """

    connects: str
    portal: str
    products: tuple[str, ...]
    scopes: tuple[str, ...]
    settings: tuple[str, ...]
    more_settings: tuple[str, ...] = ()
    redirect_path: str = "/dashboard/connect/callback"  # where the platform redirects the owner's browser
    review: str = ""
    without_review: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConnectionPrerequisites:
    """What account owners and the service's operator must set up before accounts of a platform can be connected.

    Owners bring things; the operator registers OAuth applications. Without applications the operator has nothing to
    register.
    """

    owner_brings: Mapping[str, str]
    applications: tuple[PlatformApplication, ...] = ()

    def required_applications_for_method(self, method: str) -> tuple[PlatformApplication, ...]:
        """Return the OAuth apps that the operator must set up for a connection method; none for `credentials`."""
        return self.applications if method == OAUTH else ()
