#!/usr/bin/env bash
# Tests the viewer in a real browser without a window: builds page and command, makes results, looks at them.
# Installs Debian's Chromium where none is found and it may.
set -euo pipefail
cd "$(dirname "$0")"
[ -d node_modules/playwright-core ] || npm ci --no-audit --no-fund
npm run build
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  apt-get update -qq && apt-get install -y -qq chromium
  chromium=$(command -v chromium)
fi
[ -n "$chromium" ] || { echo "no Chromium found; set CHROMIUM to its path" >&2; exit 1; }
# The published crate must hold the page.
(cd .. && cargo package -p toile-view --list --allow-dirty 2> /dev/null | grep -qx page/index.html)
(cd .. && cargo build --release --locked)
CHROMIUM="$chromium" TOILE="$PWD/../target/release/toile" node test/run.mjs "$@"
