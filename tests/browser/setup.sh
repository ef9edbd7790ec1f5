#!/usr/bin/env bash
# Installs what the browser tests need: Playwright, Chromium and axe-core, each if it can be installed here.
set -euo pipefail
cd "$(dirname "$0")/../.."
AXE_CORE=4.14.1

.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.txt

# The headless shell is Chromium without its windows, and needs much less CPU time.
if ! command -v "${CHROMIUM:-chromium-headless-shell}" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium's headless shell …"
  export DEBIAN_FRONTEND=noninteractive
  install="apt-get install -y -q --no-install-recommends chromium-headless-shell"
  timeout 300 sh -c "$install || { apt-get update -q && $install; }" >/dev/null 2>&1 || true
fi
.venv/bin/python -m tests.browser.program || true

if [ ! -f var/browser/node_modules/axe-core/axe.min.js ]; then
  mkdir -p var/browser
  if ! npm install --prefix var/browser --no-save --no-audit --no-fund --ignore-scripts --silent "axe-core@$AXE_CORE"; then
    echo "npm could not install axe-core: its accessibility rules are NOT checked."
  fi
fi
