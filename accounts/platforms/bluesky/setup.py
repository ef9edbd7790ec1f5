"""Setup of Bluesky: owners create an app password, operators register nothing. Source: docs.bsky.app, app passwords."""

from __future__ import annotations

from accounts.platforms.operator_setup import OperatorSetup

SETUP = OperatorSetup({"credentials": "Their handle and an app password, which they make in Bluesky's settings."})
