"""The reference's routes: `uvicorn tests.bench.reference.app:app`, with DATABASE_URL and REDIS_URL of the service."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import date
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from fastapi.responses import JSONResponse
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool
from redis.asyncio import Redis

from tests.bench.reference.admission import Caller, RateLimit, admit
from tests.bench.reference.bodies import CreatePost
from tests.bench.reference.reading import posts_on_day, read_post
from tests.bench.reference.refusals import RefusedError
from tests.bench.reference.writing import create_post

CONNECTIONS = 8  # of each process, as many as a process of the service has threads
OPTIONS = "-c TimeZone=UTC -c lock_timeout=10s -c idle_in_transaction_session_timeout=10s"
Work = Callable[[AsyncConnection[Any], Caller, str], Coroutine[Any, Any, tuple[Any, int, dict[str, str]]]]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the database pool and Redis while the process runs."""
    redis = Redis.from_url(os.environ["REDIS_URL"])
    app.state.limit = RateLimit(redis, int(os.environ["RATE_LIMIT_PER_MINUTE"]))
    app.state.pool = AsyncConnectionPool(
        os.environ["DATABASE_URL"],
        min_size=CONNECTIONS,
        max_size=CONNECTIONS,
        kwargs={"autocommit": True, "options": OPTIONS},
        open=False,
    )
    async with app.state.pool:
        yield
    await redis.aclose()


app = FastAPI(lifespan=lifespan, openapi_url=None)


@app.exception_handler(RefusedError)
async def refused(request: Request, error: RefusedError) -> JSONResponse:
    """Return the error envelope for a refusal."""
    trace_id = secrets.token_hex(16)
    return JSONResponse(error.envelope(trace_id), error.status, {**error.headers, "x-trace-id": trace_id})


@app.get("/healthz")
async def healthz() -> JSONResponse:
    """Answer the health check."""
    return JSONResponse({"status": "ok"})


@app.post("/posts")
async def create(request: Request, body: CreatePost, idempotency_key: Annotated[str | None, Header()] = None) -> JSONResponse:
    """Create a scheduled post (POST /posts)."""

    async def work(connection: AsyncConnection[Any], caller: Caller, trace_id: str) -> tuple[Any, int, dict[str, str]]:
        group, replayed = await create_post(connection, caller, body, idempotency_key, trace_id)
        return {"post_group": group}, 201, {"Idempotency-Replayed": "true"} if replayed else {}

    return await _answer(request, work)


@app.get("/posts/{post_group_id}")
async def retrieve(request: Request, post_group_id: str) -> JSONResponse:
    """Return a post (GET /posts/{id})."""

    async def work(connection: AsyncConnection[Any], caller: Caller, trace_id: str) -> tuple[Any, int, dict[str, str]]:
        return {"post_group": await read_post(connection, caller, post_group_id)}, 200, {}

    return await _answer(request, work)


@app.get("/posts")
async def on_day(
    request: Request,
    workspace_id: str,
    timezone: str,
    day: Annotated[date, Query(alias="date")],
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JSONResponse:
    """Return the first page of a day's posts (GET /posts)."""

    async def work(connection: AsyncConnection[Any], caller: Caller, trace_id: str) -> tuple[Any, int, dict[str, str]]:
        return await posts_on_day(connection, caller, workspace_id, day, timezone, limit), 200, {}

    return await _answer(request, work)


async def _answer(request: Request, work: Work) -> JSONResponse:
    trace_id = secrets.token_hex(16)
    state, client = request.app.state, request.client
    async with state.pool.connection() as connection:
        caller = await admit(connection, request.headers.get("authorization"), client.host if client else "")
        headers = await state.limit.take(caller.key_id)
        body, status, more = await work(connection, caller, trace_id)
    return JSONResponse(body, status, {**headers, **more, "x-trace-id": trace_id})
