"""`python -m tests.hostile`: attacks the running service and checks whether a second tenant is affected.

Each attack runs for some seconds while the probes of another workspace read, post, receive events and ask for the
service's health. A probe that fails, or whose 95th percentile passes LIMIT_SECONDS, fails the attack. Exit status 0 when
the service withstood all of them.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.chaos.stack import CannotRun, DistributedStack, EmbeddedStack, Stack
from tests.hostile.attacks import ATTACKS, Target
from tests.hostile.name_server import SilentNameServer
from tests.hostile.probes import KINDS, Probes, Receiver
from tests.hostile.tarpit import Tarpit

LIMIT_SECONDS = 2.0
RECOVERY_SECONDS = 1.0  # between two attacks
SETTINGS = {"WEBHOOK_RETRY_SCHEDULE": "5,300,1800", "MAX_RATE_LIMIT_PER_MINUTE": "1000000"}
SECOND_TENANT = """
import json
from accounts.models import ConnectedAccount
from agents.services import issue_key
from config.api.caller import Caller
from config.api.scopes import SCOPES
from workspaces.models import User
from workspaces.services import create_workspace
owner = User.objects.create_user(email="attacker@example.invalid", display_name="Attacker")
plan = create_workspace(
    caller=Caller(kind="user", actor_id=owner.id), owner_user_id=owner.id, name="Attacker", monthly_spend_cap_cents=10**7
)
key = issue_key(workspace_id=plan.workspace.id, name="Attack", scopes=SCOPES)
print(json.dumps({"workspace_id": plan.workspace.id, "key": key.token}))
"""


@dataclass
class Result:
    """The second tenant's measurements during one attack, in seconds."""

    attack: str
    p95: dict[str, float]
    faults: list[str]
    answers: dict[str, int]

    @property
    def unaffected(self) -> bool:
        """Return whether the second tenant was not affected."""
        return not self.faults and max(self.p95.values()) <= LIMIT_SECONDS


def run(stack: Stack, receiver: Receiver, tarpit: Tarpit, chosen: str) -> list[Result]:
    """Start the service and attack it; progress goes to standard output."""
    say("starting the service")
    stack.start()
    accounts = sandbox_accounts(stack.base_url, stack.demo["workspace_id"], stack.demo["api_key"])
    body = {"workspace_id": stack.demo["workspace_id"], "text": "Good morning", "targets": accounts[:1]}
    raise_cap(stack)
    attacker = json.loads(stack.run("manage.py", "shell", "--no-imports", "-c", SECOND_TENANT).splitlines()[-1])
    attackers_accounts = sandbox_accounts(stack.base_url, attacker["workspace_id"], attacker["key"])
    results = []
    for name, attack in ATTACKS.items():
        if chosen not in name:
            continue
        target = Target(
            base_url=stack.base_url,
            workspace_id=attacker["workspace_id"],
            key=attacker["key"],
            accounts=attackers_accounts,
            held_url=receiver.url,
            tarpit_url=tarpit.url,
        )
        probes = Probes(stack.base_url, stack.demo["api_key"], body, receiver)
        with probes:
            attack(target)
        p95 = {kind: probes.p95(kind) for kind in KINDS}
        results.append(Result(name, p95, probes.faults, target.answers))
        say(row(results[-1]))
        time.sleep(RECOVERY_SECONDS)
    return results


def sandbox_accounts(base_url: str, workspace_id: str, key: str) -> list[dict[str, str]]:
    """Return the workspace's sandbox accounts as targets of a post."""
    found = _session(key).get(f"{base_url}/accounts", params={"workspace_id": workspace_id}, timeout=10).json()
    return [
        {"platform": account["platform"], "connected_account_id": account["id"]}
        for account in found["accounts"]
        if account["sandbox"]
    ]


def raise_cap(stack: Stack) -> None:
    """Raise the second tenant's spending cap for its probes."""
    path = f"{stack.base_url}/workspaces/{stack.demo['workspace_id']}"
    caps = {"monthly_spend_cap_cents": 10_000_000, "monthly_social_url_post_cap": 1_000_000}
    _session(stack.demo["api_key"]).patch(path, json=caps, timeout=10).raise_for_status()


def _session(key: str) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.headers["Authorization"] = f"Bearer {key}"
    return session


def row(result: Result) -> str:
    """Format the result of one attack as a line of the table."""
    times = "".join(f"{result.p95[kind]:10.2f}" for kind in KINDS)
    answers = ", ".join(f"{count} x {answer}" for answer, count in sorted(result.answers.items()))
    return f"{result.attack:26}{times}   {'passed' if result.unaffected else 'FAILED'}   {answers}"


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(description="Attack the running service while a second tenant uses it.")
    parser.add_argument("--embedded", action="store_true", help="SQLite and no broker instead of PostgreSQL and Redis")
    parser.add_argument("--only", default="", help="the attacks whose name holds this")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="hostile-"))
    home.chmod(0o711)  # the database's user has to pass through
    (home / "data").mkdir()
    kind: type[Stack] = EmbeddedStack if options.embedded else DistributedStack
    with Receiver() as receiver, Tarpit() as tarpit, SilentNameServer() as names:
        stack = kind(home, {**SETTINGS, **names.settings}, random.Random(1))
        try:
            say(f"{'95th percentile in s':26}{''.join(f'{kind:>10}' for kind in KINDS)}")
            results = run(stack, receiver, tarpit, options.only)
        except CannotRun as reason:
            say(f"cannot run: {reason}")
            return 2
        finally:
            stack.stop()
    failed = [result for result in results if not result.unaffected]
    for result in failed:
        kinds = {fault: result.faults.count(fault) for fault in sorted(set(result.faults))}
        say(f"{result.attack}: " + ("; ".join(f"{count} x {fault}" for fault, count in kinds.items()) or "too slow"))
    say(f"{len(results) - len(failed)} of {len(results)} attacks passed" + (f"; logs in {home}" if failed else ""))
    if not failed and not options.keep:
        shutil.rmtree(home, ignore_errors=True)
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
