"""Runs the scenarios of the official MCP conformance suite that apply to a service of tools only.

Usage: mcp_conformance.py URL, the address of an MCP endpoint that needs no token (see bearer_proxy.py). It needs npx. Some
scenarios look for prompts, resources and test tools, which this service does not have; these checks are listed here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

NODE = "node@22"  # the suite needs it; npx fetches it where another version is installed
SUITE = "@modelcontextprotocol/conformance"
SECONDS = 180
OLDER, CURRENT = "0.1.16", "0.2.0-alpha.11"  # the suite's versions for the revisions to 2025-11-25, and for 2026-07-28
SCENARIOS: Mapping[str, Sequence[str]] = {
    OLDER: ("server-initialize", "ping", "tools-list", "dns-rebinding-protection"),
    CURRENT: ("server-stateless", "tools-list", "dns-rebinding-protection", "caching", "http-header-validation"),
}
NOT_APPLICABLE = {
    # They call test tools of the suite.
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
    # They list prompts and resources.
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
}


def failed_checks(version: str, scenario: str, url: str) -> list[str] | None:
    """Run a scenario; return the applicable checks that failed, or None if the suite cannot be had or printed no result."""
    revision = " --spec-version 2026-07-28" if version == CURRENT else ""
    with tempfile.TemporaryDirectory() as folder:
        command = f"conformance server --url {url} --scenario {scenario}{revision} --output-dir {folder}"
        packages = ["--package", NODE, "--package", f"{SUITE}@{version}"]
        subprocess.run(  # the npx of the PATH
            ["npx", "--yes", *packages, "--call", command],  # noqa: S607
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
        results = list(Path(folder).rglob("checks.json"))
        if not results:
            return None
        checks = [check for result in results for check in json.loads(result.read_text())]
    failed = [check["id"] for check in checks if check["status"] == "FAILURE" and check["id"] not in NOT_APPLICABLE]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    sys.stdout.write(f"conformance {version} {scenario}: {passed} checks passed, {len(failed)} failed {' '.join(failed)}\n")
    return failed


def main() -> int:
    outcomes = [failed_checks(version, name, sys.argv[1]) for version, names in SCENARIOS.items() for name in names]
    if None in outcomes:
        sys.stdout.write("A scenario of the MCP conformance suite did not run.\n")
    return 1 if None in outcomes or any(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
