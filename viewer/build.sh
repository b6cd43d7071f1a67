#!/usr/bin/env bash
# Builds the page into crates/toile-view/page, from where the next `cargo build` takes it. Needs Node 20 or newer.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm run build
