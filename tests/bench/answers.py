"""Checks that a reference gives the same answers as the service."""

from __future__ import annotations

import uuid
from typing import Any

import requests

from tests.bench.service import Service

OWN = ("id", "trace_id", "created_at", "updated_at")  # of each post and target another, by their nature
ONLY_OURS = ("plan_hash", "approval_url", "series_id")  # the reference has neither plans nor series


def same_answers(
    service: Service, port: int, body: dict[str, Any], post_group_id: str | None, day_path: str | None
) -> list[dict[str, Any]]:
    """Send the same requests to both servers; return the post that each created. Raises RuntimeError where answers differ.

    Without a `post_group_id` and a `day_path` the body is one for validation.
    """
    sides = [service.stack.base_url, f"http://127.0.0.1:{port}"]
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Authorization"] = f"Bearer {service.key}"
        if post_group_id is None or day_path is None:
            _alike("validations", [session.post(f"{side}/posts/validate", json=body, timeout=10) for side in sides])
            return []
        keys = [uuid.uuid4().hex for _ in sides]
        for name in ("new posts", "repeated posts"):
            made = [_post(session, side, body, key) for side, key in zip(sides, keys, strict=True)]
            _alike(name, made, but=OWN)
            if {answer.headers.get("Idempotency-Replayed") for answer in made} != {None if name[0] == "n" else "true"}:
                raise RuntimeError(f"Not both sides replay: {[dict(answer.headers) for answer in made]}")
        for path in (f"/posts/{post_group_id}", day_path):
            _alike(path, [session.get(side + path, timeout=10) for side in sides])
        return [answer.json()["post_group"] for answer in made]


def _post(session: requests.Session, side: str, body: dict[str, Any], key: str) -> requests.Response:
    return session.post(f"{side}/posts", json=body, headers={"Idempotency-Key": key}, timeout=10)


def _alike(what: str, answers: list[requests.Response], *, but: tuple[str, ...] = ()) -> None:
    ours, reference = ((answer.status_code, _without(answer.json(), but)) for answer in answers)
    if ours != reference or not answers[0].ok:
        raise RuntimeError(f"The two sides answer differently, {what}:\n{ours}\n{reference}")


def _without(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        kept = {name: each for name, each in value.items() if name not in ONLY_OURS}
        return {name: None if name in names else _without(each, names) for name, each in kept.items()}
    return [_without(each, names) for each in value] if isinstance(value, list) else value
