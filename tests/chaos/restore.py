"""Tests restoring a backup: posts published after the dump are not published again.

Run as `python -m tests.chaos.restore`. Posts are scheduled; the database is dumped; the service publishes some of them, and
others that were made after the dump; it stops. The dump is restored into a second database, `manage.py after_restore` is
run as docs/backup.md has it, and the service goes on there. With --unguarded that command is left out, which shows what
it is for. Exit status 0 when nothing was doubled and everything that may go out has gone out.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.chaos.api import Answers, Client
from tests.chaos.gate import Gates
from tests.chaos.networks import Networks
from tests.chaos.platforms import Account
from tests.chaos.processes import postgres_binaries
from tests.chaos.stack import START_SECONDS, CannotRun, DistributedStack, wait_until

KINDS = ("bluesky", "mastodon", "telegram")
EACH = 3  # posts of a kind for each platform
SOON = timedelta(seconds=40)  # after the dump, before the service stops
LATER = timedelta(seconds=150)  # after the restore
CAPS = {"monthly_spend_cap_cents": 1_000_000_000}
RESTORED = "restored"


@dataclass(frozen=True)
class Post:
    """One post, identified at its platform by its marker."""

    marker: str
    account: Account
    group_id: str


class RestoredStack(DistributedStack):
    """A service that is stopped and restarted."""

    def start_service(self) -> None:
        """Start web and workers again, with the environment as it is now."""
        for program in self._service:
            program.wanted = True
        self.wait_ready()


class Run:
    """One run, on a service with real (not sandbox) accounts at stand-ins."""

    def __init__(self, home: Path, networks: Networks) -> None:
        self.home, self.networks = home, networks
        self.stack = RestoredStack(home, networks.settings(), random.Random(1), beats=0)
        self.answers = Answers(self.stack.note)
        self._made = 0

    def go(self, *, guarded: bool) -> list[str]:
        """Run the whole test; return a sentence for each failure."""
        self.stack.start()
        self.client = Client(self.stack.base_url, self.stack.demo["api_key"], self.answers, random.Random(2))
        accounts = self._connect()
        before = self._post_to(accounts)
        self._wait_for(before)
        due_soon, due_later = self._post_to(accounts, SOON), self._post_to(accounts, LATER)
        self._dump()
        if len(self._unfinished(due_soon)) < len(due_soon):
            raise CannotRun("This machine is too slow: posts were due before the dump was taken.")
        say("dumped; now some of it goes out")
        after = self._post_to(accounts)
        self._wait_for([*due_soon, *after])
        self.stack.stop_service()
        stopped_at = datetime.now(UTC)
        self._restore()
        if guarded:
            command = ("manage.py", "after_restore", "--stopped-at", stopped_at.isoformat())
            for words in (command, (*command, "--apply")):
                sys.stderr.write(self.stack.run(*words))
        say("the service goes on with the restored database")
        self.stack.start_service()
        new = self._post_to(accounts)
        self._wait_for([*new, *due_later])
        wait_until(lambda: not self._unfinished(due_soon), "the end of what was due at the dump")
        return self._problems(before, due_soon, due_later, after, new)

    def _connect(self) -> list[Account]:
        deadline = time.monotonic() + 60.0
        workspace_id = self.stack.demo["workspace_id"]
        self.client.call("PATCH", f"/workspaces/{workspace_id}", CAPS, deadline=deadline)
        accounts = []
        for platform in (each for each in self.networks.all if each.label in KINDS):
            body: dict[str, Any] = {"workspace_id": workspace_id, "platform": platform.name, "method": "credentials"}
            body |= {"credentials": platform.credentials(0)}
            reply = self.client.call("POST", "/accounts/connect", body, deadline=deadline)
            platform.connected(reply.body["account"]["id"])
            accounts += platform.accounts
        return accounts

    def _post_to(self, accounts: Sequence[Account], delay: timedelta | None = None) -> list[Post]:
        """Create EACH posts for each account, due now or after `delay`."""
        posts = []
        at = datetime.now(UTC) + delay if delay else None
        for account in [account for account in accounts for _ in range(EACH)]:
            marker = f"chaos1n{self._made:06}"
            self._made += 1
            target = {"platform": account.platform, "connected_account_id": account.id}
            content: dict[str, Any] = {"text": f"{marker} news", "targets": [target]}
            if at:
                content["scheduled_at"] = at.isoformat(timespec="milliseconds")
            reply = self.client.call("POST", "/posts", content, key=marker, deadline=time.monotonic() + 30.0)
            if reply.status != 201:
                raise CannotRun(f"A post was refused: {reply.body}")
            posts.append(Post(marker, account, reply.body["post_group"]["id"]))
        return posts

    def _wait_for(self, posts: Sequence[Post]) -> None:
        """Wait until the service reports each post as published."""
        seconds = LATER.total_seconds() + START_SECONDS
        wait_until(lambda: all(self._status(post) == "published" for post in posts), "publishing", seconds=seconds)

    def _unfinished(self, posts: Sequence[Post]) -> list[Post]:
        return [post for post in posts if self._status(post) in ("scheduled", "publishing")]

    def _status(self, post: Post) -> str:
        reply = self.client.call("GET", f"/posts/{post.group_id}", deadline=time.monotonic() + 30.0)
        return str(reply.body["post_group"]["status"]) if reply.status == 200 else f"answered {reply.status}"

    def _dump(self) -> None:
        self._postgres("pg_dump", "--format=custom", "--file", str(self.home / "service.dump"), self._url("postgres"))

    def _restore(self) -> None:
        """Restore the dump into a second database, which the service uses from now on."""
        self._postgres("createdb", "--maintenance-db", self._url("postgres"), RESTORED)
        self._postgres("pg_restore", "--exit-on-error", "--dbname", self._url(RESTORED), str(self.home / "service.dump"))
        self.stack.environ["DATABASE_URL"] = self._url(RESTORED)

    def _url(self, database: str) -> str:
        assert self.stack.postgres is not None
        return f"postgres://postgres@127.0.0.1:{self.stack.postgres.port}/{database}"

    def _postgres(self, program: str, *words: str) -> None:
        folder = postgres_binaries()
        assert folder is not None
        subprocess.run([folder / program, *words], check=True, timeout=60)

    def _problems(
        self, before: list[Post], due_soon: list[Post], due_later: list[Post], after: list[Post], new: list[Post]
    ) -> list[str]:
        accepted = self.networks.accepted()
        every = [*before, *due_soon, *due_later, *after, *new]
        problems = [
            f"{post.marker} stands {accepted[post.account.id, post.marker]} times at {post.account.platform}."
            for post in every
            if accepted[post.account.id, post.marker] != 1
        ]
        wanted = {"published": [*before, *due_later, *new], "unconfirmed": due_soon, "answered 404": after}
        problems += [
            f"{post.marker} ({post.account.platform}) is {self._status(post)}, not {status}."
            for status, posts in wanted.items()
            for post in posts
            if self._status(post) != status
        ]
        counted = {"out": len(before), "due since": len(due_soon), "due later": len(due_later)}
        say(f"posts in the dump: {counted}; made after it: {len(after)}; made after the restore: {len(new)}")
        return problems + self.answers.wrong


def say(line: str) -> None:
    """Print progress to standard error."""
    sys.stderr.write(f"restore: {line}\n")
    sys.stderr.flush()


def main(arguments: list[str]) -> int:
    """Run the restore test; return 0 without faults, 1 with faults, 2 when it cannot run on this machine."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.restore", description="A restore doubles nothing.")
    parser.add_argument("--unguarded", action="store_true", help="leave after_restore out, to see what it is for")
    guarded = not parser.parse_args(arguments).unguarded
    home = Path(tempfile.mkdtemp(prefix="restore-"))
    home.chmod(0o711)  # the database's user has to pass through
    problems = [""]
    try:
        with contextlib.ExitStack() as opened:
            gates = opened.enter_context(Gates(random.Random(3)))
            run = Run(home, opened.enter_context(Networks(gates)))
            opened.callback(run.stack.stop)
            problems = run.go(guarded=guarded)
        result = "\n".join(problems) or "nothing was doubled, and everything that may go out has gone out"
        sys.stdout.write(f"{result}\n")
        return int(bool(problems))
    except CannotRun as error:
        say(f"cannot run: {error}")
        return 2
    finally:
        if problems:
            say(f"the output of every process is in {home}")
        else:
            shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
