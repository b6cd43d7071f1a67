#!/usr/bin/env bash
# Writes src/benchmarks.md anew: docs/book/benchmarks.sh path/to/toile
set -euo pipefail
toile=$(realpath "${1:?give the toile command}")
page="$(dirname "$0")/src/benchmarks.md"
{
  cat <<'HEAD'
# Benchmarks

Written by `docs/book/benchmarks.sh`, which runs the commands below and keeps what they say. Times are those of the machine it ran on, named first; steps, errors and verdicts
are the same everywhere. The file `docs/figures.md` of the repository holds the longer runs, and what they are compared with.

HEAD
  printf 'Machine: %s cores, %s, %s.\n' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$("$toile" --version)"
  while read -r words; do
    printf '\n## %s\n\n```sh\ntoile %s\n```\n\n```text\n' "$words" "$words"
    # shellcheck disable=SC2086
    (cd "$(mktemp -d)" && "$toile" $words --threads 1 2>/dev/null)
    printf '```\n'
  done <<'LIST'
bench w4
bench w4 --ratio 0.95
bench w6
bench inverse --n 300
bench assembly
LIST
} > "$page.part"
mv "$page.part" "$page"
