"""The parts of an operation's declaration: who may call it, what body it takes, and how an Idempotency-Key is handled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from config.api.idempotency import LEASE
from config.api.models import IdempotencyRecord
from config.api.scopes import AlternativeScopes
from config.api.serializers import StrictSerializer
from config.api.uploads import UploadRules

if TYPE_CHECKING:
    from config.api.operation import Call


@dataclass(frozen=True)
class Access:
    """The policy of who may call an API operation: by default, callers with `scope`, one scope or an AlternativeScopes.

    `public`: no bearer token is needed; the caller is anonymous. `operator`: only ADMIN_TOKEN is accepted. `claim_token`: an
    agent's claim token is accepted too.
    """

    scope: str | AlternativeScopes | None = None
    public: bool = False
    operator: bool = False
    claim_token: bool = False


@dataclass(frozen=True)
class Body:
    """The policy of which request body an API operation takes: none, JSON for a serializer, or an uploaded file.

    `serializer` needs a docstring, which OpenAPI shows. `upload`: a file, as multipart/form-data or in JSON. `raw`: any JSON
    object, which the service parses.
    """

    serializer: type[StrictSerializer] | None = None
    upload: UploadRules | None = None
    raw: bool = False


@dataclass(frozen=True)
class Idempotency:
    """The policy of an API operation for Idempotency-Keys: how it handles one; without a `mode`, it takes none.

    `lease`: how long a request in lease mode may run before a repeated request takes it over. `actor` returns the owner of
    the key, if that is not the caller. `replay` makes the answer to a repeated request, which is otherwise the stored answer
    without its `secrets`.
    """

    mode: Literal["transaction", "commit", "lease"] | None = None
    lease: timedelta = LEASE
    actor: Callable[[Call], str] | None = None
    replay: Callable[[Call, IdempotencyRecord], Any] | None = None
    replay_status: int | None = None
    secrets: tuple[str, ...] = ()
