#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh environment and tests it there; needs Python 3.10 or newer with venv.
# Packages that only some tests and examples want (usd-core, meshio, distributed, jax) are installed too; without them those are skipped.
# So are the ones that notebooks are run with. PyTorch is not: its wheel brings gigabytes.
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-$PWD/../target}"
python="${PYTHON:-python3}"
room="$target/python"
rm -rf "$room/env" "$room/wheels"
mkdir -p "$room"
"$python" -m venv "$room/env"
pip() { "$room/env/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
pip install "maturin>=1.9,<2"
# Not --locked: when a crate above gains a dependency, the lock file here follows it and keeps everything else.
"$room/env/bin/maturin" build --release --target-dir "$target" --out "$room/wheels" --interpreter "$room/env/bin/python"

# An empty environment gets the wheel and what it asks for, nothing else, and must do the tutorial's lines.
"$python" -m venv --clear "$room/env"
pip install "$room"/wheels/toile-*.whl
"$room/env/bin/python" examples/ten_lines.py
pip install pytest
pip install usd-core meshio distributed jax || echo "test.sh: no optional packages; their tests are skipped" >&2
"$room/env/bin/python" -m pytest -q "$@"
for example in examples/*.py; do
  echo "== $example"
  if [ "$example" = examples/jax_function.py ] && ! "$room/env/bin/python" -c "import jax" 2> /dev/null; then
    echo "test.sh: no jax; not run" >&2
    continue
  fi
  "$room/env/bin/python" "$example"
done
if pip install nbclient ipykernel matplotlib; then
  for notebook in notebooks/*.ipynb; do
    echo "== $notebook"
    "$room/env/bin/python" - "$notebook" << 'RUN'
import sys

import nbclient
import nbformat

nbclient.NotebookClient(nbformat.read(sys.argv[1], as_version=4), timeout=300, kernel_name="python3").execute()
RUN
  done
else
  echo "test.sh: no nbclient; the notebooks were not run" >&2
fi
