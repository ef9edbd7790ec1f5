"""`python -m tests.chaos`: the whole run, from starting the processes to the verdict. Exit status 0 without faults."""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.api import Answers, Client, Unanswered
from tests.chaos.faults import Storm
from tests.chaos.gate import Gates
from tests.chaos.load import Load, Settling, new_clients, plan_posts
from tests.chaos.networks import Networks
from tests.chaos.receivers import Receivers
from tests.chaos.stack import CannotRun, DistributedStack, EmbeddedStack, Stack
from tests.chaos.verdict import Evidence, Verdict, compare, table
from tests.chaos.weather import Weather

PROGRESS_SECONDS = 5.0
FAULTS_EACH = 0.5  # faults that are laid at platforms for each post
LOAD_SHARE = 0.9  # of the time posts are sent; faults go on while the last ones are under way
CAPS = {"monthly_spend_cap_cents": 1_000_000_000, "monthly_social_url_post_cap": 1_000_000}


@dataclass(frozen=True)
class Options:
    """The command-line options."""

    seed: int
    posts: int
    minutes: float
    settle: float
    pause: float
    embedded: bool
    beats: int
    json: bool
    keep: bool


class Run:
    """One chaos run, with all its parts and random seeds."""

    def __init__(self, options: Options, home: Path, networks: Networks, receivers: Receivers) -> None:
        self.options, self.home = options, home
        self.networks, self.receivers = networks, receivers
        kind: type[Stack] = EmbeddedStack if options.embedded else DistributedStack
        self.stack = kind(home, networks.settings(), rng_of(options.seed, "process manager"), beats=options.beats)
        self.storm = Storm(self.stack, rng_of(options.seed, "storm"), pause=options.pause)
        pause = options.minutes * 60.0 / options.posts / FAULTS_EACH
        self.weather = Weather(networks.all, rng_of(options.seed, "weather"), pause=pause, note=self.stack.note)
        self.answers = Answers(self.stack.note)
        self.settled = False

    def go(self) -> Evidence:
        """Start the service, send posts under faults, wait for the end and collect the evidence."""
        options, seed = self.options, self.options.seed
        say(f"seed {seed}; starting the service in {self.home}")
        self.stack.start()
        if self.stack.left_out:
            say(self.stack.left_out)
        demo = self.stack.demo
        clients = new_clients(self.stack.base_url, demo["api_key"], self.answers, rng_of(seed, "clients"))
        client = clients()
        self._prepare(client, demo["workspace_id"])
        posts = plan_posts(rng_of(seed, "posts"), options.posts, seed, self.networks.accounts, self.receivers.weights)
        load = Load(clients, posts)
        self._send(load)
        settling = Settling(client, demo["workspace_id"], posts, say)
        self.settled = settling.wait(options.settle)
        deadline = time.monotonic() + options.settle
        rng = rng_of(seed, "rounds")
        if self.settled and settling.another_round(rng, self.networks.accepted(), deadline):
            self.settled = settling.wait(options.settle)
        return self._evidence(load)

    def _prepare(self, client: Client, workspace_id: str) -> None:
        """Raise the caps, read the signing secret, connect the accounts."""
        deadline = time.monotonic() + 60.0
        client.call("PATCH", f"/workspaces/{workspace_id}", CAPS, deadline=deadline)
        path = f"/workspaces/{workspace_id}/webhook-signing-secret"
        self.receivers.receipts.secret = client.call("GET", path, deadline=deadline).body["signing_secret"]
        for platform in self.networks.all:
            for number in range(platform.accounts_each):
                body = {
                    "workspace_id": workspace_id,
                    "platform": platform.name,
                    "method": "credentials",
                    "credentials": platform.credentials(number),
                }
                reply = client.call("POST", "/accounts/connect", body, deadline=deadline)
                if reply.status != 200:
                    raise CannotRun(f"{platform.name} was not connected: {reply.body}")
                platform.connected(reply.body["account"]["id"])

    def _send(self, load: Load) -> None:
        seconds = self.options.minutes * 60.0
        began = time.monotonic()
        load.start(seconds * LOAD_SHARE)
        self.storm.start()
        self.weather.start()
        shown = began
        while time.monotonic() < began + seconds:
            time.sleep(0.5)
            if time.monotonic() - shown >= PROGRESS_SECONDS:
                shown = time.monotonic()
                self._show(load, shown - began)
        if not (self.storm.running and self.weather.running):
            raise CannotRun("The faults ended by themselves; the trace above says why.")
        self.storm.calm()
        self.weather.calm()
        self.receivers.come_back()
        say("the faults are over")
        load.deadline = time.monotonic() + self.options.settle
        while load.running and time.monotonic() < load.deadline:
            time.sleep(0.5)
        load.stop()

    def _show(self, load: Load, seconds: float) -> None:
        out = self.networks.accepted().total()
        kills = sum(times for name, times in self.storm.faults.items() if name.startswith("kill"))
        faults, weather = self.storm.faults.total(), self.weather.faults.total()
        say(
            f"{seconds:4.0f} s: {load.sent} sent, {load.accepted} accepted, {out} out; "
            f"{kills} kills, {faults - kills} other faults, {weather} at platforms"
        )

    def _evidence(self, load: Load) -> Evidence:
        say("settled; the last look" if self.settled else "NOT settled in time; the last look")
        self.stack.stop_service()
        found = self.home / "final_state.json"
        self.stack.run("-m", "tests.chaos.final_state", str(found))
        posts = [{"marker": post.marker, "group": post.body} for post in load.posts]
        (self.home / "posts.json").write_text(json.dumps(posts, indent=1))
        receipts = self.receivers.receipts
        return Evidence(
            posts=load.posts,
            database=json.loads(found.read_text()),
            accepted=self.networks.accepted(),
            first_seen=self.networks.first_seen(),
            attempts=receipts.attempts,
            answered_well=receipts.answered_well,
            receiver_faults=receipts.faults,
            hopeless=frozenset(self.receivers.hopeless),
            wrong_answers=self.answers.wrong,
        )

    def stop(self) -> None:
        """End everything."""
        self.storm.calm()
        self.weather.calm()
        self.stack.stop()

    def rows(self) -> dict[str, object]:
        """Return additional measurements for the report."""
        rows: dict[str, object] = dict(sorted(self.storm.faults.items()))
        rows |= {f"platforms: {name}": times for name, times in sorted(self.weather.faults.items())}
        rows |= {f"answers: {name}": times for name, times in sorted(self.answers.counts.items())}
        if len(self.answers.seconds) > 1:
            cuts = statistics.quantiles(self.answers.seconds, n=100)
            rows["POST /posts, median and p99 in s"] = f"{cuts[49]:.3f} {cuts[98]:.3f}"
        rows["slowest stop on SIGTERM in s"] = f"{self.stack.slowest_stop:.1f}"
        return rows


def main() -> int:
    """Run the chaos test; return 0 without faults, 1 with faults, 2 when it cannot run on this machine."""
    options = options_of(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    home = Path(tempfile.mkdtemp(prefix="chaos-"))
    home.chmod(0o711)  # the database's user has to pass through
    began = time.monotonic()
    keep_files = True
    try:
        with contextlib.ExitStack() as opened:
            gates = opened.enter_context(Gates(rng_of(options.seed, "gates")))
            networks = opened.enter_context(Networks(gates))
            receivers = opened.enter_context(Receivers(gates, rng_of(options.seed, "receivers")))
            run = Run(options, home, networks, receivers)
            opened.callback(run.stop)
            verdict = compare(run.go())
        rows = {**run.rows(), "seconds": round(time.monotonic() - began)}
        report(options, verdict, rows)
        keep_files = options.keep or not verdict.passed
        return 0 if verdict.passed else 1
    except (CannotRun, Unanswered) as error:
        say(f"cannot run: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; everything that was started is ended")
        return 130
    finally:
        if keep_files:
            say(f"the output of every process, and more, is in {home}")
        else:
            shutil.rmtree(home)


def report(options: Options, verdict: Verdict, rows: dict[str, object]) -> None:
    """Print the table, or the same as JSON."""
    if options.json:
        content: dict[str, Any] = {"holds": verdict.passed, "seed": options.seed, "counts": dict(verdict.counts)}
        sys.stdout.write(json.dumps({**content, "rows": rows, "findings": verdict.findings}, indent=2) + "\n")
    else:
        sys.stdout.write(f"{table(verdict, rows)}\n{'everything holds' if verdict.passed else 'IT DOES NOT HOLD'}\n")
    sys.stdout.flush()


def options_of(arguments: list[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Nothing is lost, nothing is doubled.")
    parser.add_argument("--seed", type=int, default=1, help="all choices follow from it (default: %(default)s)")
    parser.add_argument("--posts", type=int, default=600, help="how many are sent (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long there are faults (default: %(default)s)")
    parser.add_argument("--settle", type=float, default=240.0, help="seconds to settle afterwards, at the most")
    parser.add_argument("--pause", type=float, help="mean seconds between two faults of the service's processes")
    parser.add_argument("--short", action="store_true", help="150 posts in one minute, three in all")
    parser.add_argument("--embedded", action="store_true", help="manage.py up on SQLite, without Redis")
    parser.add_argument("--beats", type=int, default=2, help="how many beats run; 0: it is dead all the time")
    parser.add_argument("--json", action="store_true", help="print the result for machines")
    parser.add_argument("--keep", action="store_true", help="keep the output of the processes in any case")
    values = vars(parser.parse_args(arguments))
    if values.pop("short"):
        values |= {"posts": 150, "minutes": 1.0}
    # `up` waits longer and longer before it restarts what dies again and again.
    values["pause"] = values["pause"] or (8.0 if values["embedded"] else 2.5)
    return Options(**values)


def rng_of(seed: int, part: str) -> random.Random:
    """Return the random generator of one part, independent of the order of the others."""
    return random.Random(f"{seed} {part}")


def say(line: str) -> None:
    """Print progress to standard error."""
    sys.stderr.write(f"chaos: {line}\n")
    sys.stderr.flush()


def _interrupt(*_signal: object) -> None:
    """Start to stop everything on the first signal and ignore further ones."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
