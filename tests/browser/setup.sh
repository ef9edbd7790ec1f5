#!/usr/bin/env bash
# Installs what the browser tests need: Playwright, Chromium and axe-core, each if it can be installed here.
set -euo pipefail
cd "$(dirname "$0")/../.."
AXE_CORE=4.14.1

.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.txt

if ! command -v "${CHROMIUM:-chromium}" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing chromium …"
  export DEBIAN_FRONTEND=noninteractive
  install="apt-get install -y -q --no-install-recommends chromium"
  timeout 300 sh -c "$install || { apt-get update -q && $install; }" >/dev/null 2>&1 || true
fi
command -v "${CHROMIUM:-chromium}" >/dev/null || echo "Chromium was not found: install it, or name another program with CHROMIUM."

if [ ! -f var/browser/node_modules/axe-core/axe.min.js ]; then
  mkdir -p var/browser
  if ! npm install --prefix var/browser --no-save --no-audit --no-fund --ignore-scripts --silent "axe-core@$AXE_CORE"; then
    echo "npm could not install axe-core: its accessibility rules are NOT checked."
  fi
fi
