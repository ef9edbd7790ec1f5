#!/usr/bin/env bash
# The contract as other programs read it; `make contract` runs this in the project's root.
# A service of its own, with the demo workspace, is used through its MCP endpoint by the official client and checked by the
# official conformance suite. Then it is fuzzed by schemathesis; its document is linted, and clients are generated out of it
# and compiled. Each of npm's tools that cannot be had is left out, and the run says so.
# Usage: run_contract.sh [EXAMPLES]   test cases for each operation, 60 by default
set -euo pipefail
examples=${1:-60}
tools=$PWD/.venv-contract/bin
config=$PWD/tests/contract/schemathesis.toml
work=$(mktemp -d)
failed=""
PATH=$tools:$PATH # openapi-python-client looks for ruff there

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }
check() { # NAME COMMAND …
  step "$1"
  "${@:2}" || failed="$failed $1;"
}

ADMIN_TOKEN=$(python -c 'import secrets; print(secrets.token_hex(32))')
export ADMIN_TOKEN # the operator's, which schemathesis.toml gives to the operator's operations

# What the caller's shell has set, a database above all, is not this service's. Nothing is sent to the real platforms.
port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
env -i PATH="$PATH" HOME="$HOME" WAIT_SECONDS=1 OUTBOUND_ALLOW_LOOPBACK=true \
  RATE_LIMIT_PER_MINUTE=1000000 WORKSPACE_RATE_LIMIT_PER_MINUTE=1000000 MAX_WORKSPACES_PER_OWNER=1000000 \
  BLUESKY_API_BASE=http://127.0.0.1:9 STRIPE_WEBHOOK_SECRET=whsec_contract ADMIN_TOKEN="$ADMIN_TOKEN" \
  .venv/bin/python manage.py up --port "$port" --data-dir "$work/data" >"$work/service.log" 2>&1 &
service=$!
proxy=""
stop() {
  for program in $proxy "$service"; do
    kill "$program" 2>/dev/null || true
    wait "$program" || true
  done
  rm -rf "$work"
}
trap stop EXIT
base=http://127.0.0.1:$port
for attempt in $(seq 120); do
  [ -f "$work/data/demo.json" ] && curl --silent --fail --output /dev/null "$base/readyz" && break
  if [ "$attempt" = 120 ] || ! kill -0 "$service" 2>/dev/null; then
    cat "$work/service.log"
    exit 1
  fi
  sleep 0.5
done
curl --silent --fail --output "$work/openapi.json" "$base/openapi.json"

# Something to act on: a sandbox account of the demo workspace, and an agent and a draft made here (schemathesis.toml).
named=$(python - "$work/data/demo.json" <<'PY'
import json
import sys
import urllib.request

demo = json.load(open(sys.argv[1]))


def ask(path, body=None):
    headers = {"Authorization": f"Bearer {demo['api_key']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(demo["base_url"] + path, data, headers)))


workspace = demo["workspace_id"]
account = ask(f"/accounts?workspace_id={workspace}")["accounts"][0]
owner = {"workspace_id": workspace, "owner_user_id": demo["owner_user_id"]}
agent = ask("/agents", {**owner, "name": "Agent", "scopes": ["posts.draft"], "default_mode": "draft"})["agent"]
target = {"platform": account["platform"], "connected_account_id": account["id"]}
group = ask("/posts", {"text": "A draft", "draft": True, "targets": [target]})["post_group"]
print(f"export API_KEY={demo['api_key']} WORKSPACE_ID={workspace} ACCOUNT_ID={account['id']}")
print(f"export AGENT_ID={agent['id']} POST_GROUP_ID={group['id']} OWNER_USER_ID={demo['owner_user_id']}")
PY
)
eval "$named"

# Each of npm's tools is used where it can be had.
export npm_config_fetch_retries=1
npm_has() { # PACKAGE COMMAND [OTHER PACKAGE]
  command -v npx >/dev/null && timeout 180 npx --yes --package "$1" ${3:+--package "$3"} "$2" --version >/dev/null 2>&1
}

check "the official MCP client" "$tools/python" tests/contract/mcp_client.py "$base/mcp"
check "the official types of MCP messages" "$tools/python" tests/contract/mcp_messages.py "$base/mcp"
if npm_has @modelcontextprotocol/conformance@0.2.0-alpha.11 conformance node@22; then
  proxy_port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  .venv/bin/python tests/contract/bearer_proxy.py "$proxy_port" "$base" &
  proxy=$!
  check "the MCP conformance suite" .venv/bin/python tests/contract/mcp_conformance.py "http://127.0.0.1:$proxy_port/mcp"
else
  step "the MCP conformance suite cannot be had from npm here: it was NOT run"
fi

# positive_data_acceptance cannot hold where ids must exist. Nor can use_after_free: DELETE disconnects an account, revokes
# an agent and cancels a post, and all of them stay readable with their new state.
fuzz() (
  cd "$work"
  schemathesis --config-file "$config" run "$base/openapi.json" --checks all \
    --exclude-checks positive_data_acceptance,use_after_free --seed 1 --max-examples "$examples" --no-color "$@"
)
# What pauses the workspace or ends its keys would spoil the rest, so each of these comes last, by itself.
last=(ops_pause_workspace ops_revoke_key api_keys_revoke workspaces_delete)
check "schemathesis" fuzz "${last[@]/#/--exclude-operation-id=}"
for operation in "${last[@]}"; do
  check "schemathesis: $operation" fuzz --include-operation-id "$operation"
  curl --silent --output "$work/resumed" --request POST --header "Authorization: Bearer $ADMIN_TOKEN" \
    "$base/ops/workspaces/$WORKSPACE_ID/resume"
done
no_traceback() { ! grep -n -A 30 Traceback "$work/service.log"; }
check "the service's log" no_traceback

python_client() (
  cd "$work"
  openapi-python-client generate --path openapi.json --output-path client --meta none --fail-on-warning &&
    python -m compileall -q client && python - <<'PY'
import importlib
import pkgutil

import client

for module in pkgutil.walk_packages(client.__path__, "client."):
    importlib.import_module(module.name)
PY
)
check "openapi-python-client" python_client

redocly=@redocly/cli@2.77.0 types=openapi-typescript@7.13.0 typescript=typescript@5.9.3
lint() { npx --yes --package "$redocly" redocly lint --extends recommended-strict "$work/openapi.json"; }
typescript_client() {
  npx --yes --package "$types" openapi-typescript "$work/openapi.json" --output "$work/schema.ts" &&
    npx --yes --package "$typescript" tsc --noEmit --strict "$work/schema.ts"
}
if npm_has "$redocly" redocly; then
  check "redocly" lint
else
  step "redocly cannot be had from npm here: the document was NOT linted"
fi
if npm_has "$types" openapi-typescript && npm_has "$typescript" tsc; then
  check "openapi-typescript" typescript_client
else
  step "openapi-typescript cannot be had from npm here: NO typescript client was made"
fi

if [ -n "$failed" ]; then
  step "FAILED:$failed"
  exit 1
fi
step "all of it holds"
