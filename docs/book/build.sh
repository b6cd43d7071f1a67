#!/usr/bin/env bash
# Builds the book as HTML into target/book and checks every link and anchor within it.
# Gets mdBook itself (without its server, into target/mdbook) unless the version below is there already.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=0.5.4
export PATH="$PWD/target/mdbook/bin:$PATH"
if [ "$(mdbook --version 2> /dev/null)" != "mdbook v$version" ]; then
  cargo install mdbook --version "=$version" --no-default-features --locked --debug --root target/mdbook
fi
mdbook build docs/book
python3 docs/book/links.py target/book
