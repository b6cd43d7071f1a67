#!/usr/bin/env python3
"""Checks the book and runs everything in it.

    docs/book/run.py --toile target/release/toile --python env/bin/python [PAGE…]

Every page gets an empty folder. Blocks run in order: `toml` blocks that begin with `# file: NAME` are written there, `sh` blocks go to bash with
errors fatal and `toile` on the path, `python` blocks of a page run as one program after its shell blocks so far. `text` blocks are for reading, `sh,install` blocks are what
a user does once. Any other block is a mistake. Pages that need the Python package are skipped without --python, and said so.
Links between pages, and the list of pages, are checked as well.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent / "src"
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.M | re.S)


def pages() -> list[pathlib.Path]:
    """Pages in the order of the summary; every file must be in it, once."""
    listed = [SOURCE / m for m in re.findall(r"\]\(([^)]+\.md)\)", (SOURCE / "SUMMARY.md").read_text())]
    there = set(SOURCE.rglob("*.md")) - {SOURCE / "SUMMARY.md"}
    if set(listed) != there or len(listed) != len(there):
        odd = set(listed) ^ there
        raise SystemExit(f"SUMMARY.md and the pages differ: {sorted(map(str, odd))}")
    return listed


def check_links(page: pathlib.Path) -> None:
    prose = FENCE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if not re.match(r"https?://", target) and not (page.parent / target).is_file():
            raise SystemExit(f"{page}: the link to {target} leads nowhere")


def blocks(page: pathlib.Path) -> list[tuple[str, str, int]]:
    text = page.read_text()
    found = [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]
    if 2 * len(found) != len(re.findall(r"^```", text, re.M)):
        raise SystemExit(f"{page}: a code block is not closed, or not at the start of a line")
    return found


def run(page: pathlib.Path, toile: str, python: str | None) -> tuple[int, int]:
    """Runs a page; returns how many blocks ran and how many were left out."""
    ran, left = 0, 0
    with tempfile.TemporaryDirectory(prefix="toile-book-") as folder:
        tools = pathlib.Path(folder, ".bin")
        tools.mkdir()
        (tools / "toile").symlink_to(pathlib.Path(toile).resolve())
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        env = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")} | {"PATH": path}
        program = ""
        for kind, text, line in blocks(page):
            if kind in ("text", "sh,install"):
                continue
            if kind == "toml":
                name = re.match(r"# file: (\S+)\n", text)
                if not name:
                    raise SystemExit(f"{page}:{line}: a toml block must begin with `# file: NAME`")
                pathlib.Path(folder, name[1]).write_text(text)
                continue
            if kind == "sh":
                command = ["bash", "-euo", "pipefail", "-c", text]
            elif kind == "python":
                if python is None:
                    left += 1
                    continue
                # A page is one program, told in parts: what was said before is said again.
                program += "\n" * (line - program.count("\n")) + text
                # Not resolved: the link is what makes it the Python of its environment.
                command = [os.path.abspath(python), "-c", program]
            else:
                raise SystemExit(f"{page}:{line}: a block of kind {kind!r}; use sh, toml, python or text")
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
            if done.returncode != 0:
                sys.stderr.write(done.stdout + done.stderr)
                raise SystemExit(f"{page}:{line}: the block ended with code {done.returncode}")
            ran += 1
    return ran, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--toile", help="the command; without it only links and blocks are checked")
    parser.add_argument("--python", help="a Python with the package toile")
    parser.add_argument("pages", nargs="*", help="only pages whose path contains one of these")
    args = parser.parse_args()
    total, left = 0, 0
    for page in pages():
        check_links(page)
        blocks(page)
        name = page.relative_to(SOURCE)
        if args.toile is None or (args.pages and not any(p in str(name) for p in args.pages)):
            continue
        begun = time.perf_counter()
        ran, skipped = run(page, args.toile, args.python)
        total, left = total + ran, left + skipped
        note = f", {skipped} left out: they need --python" if skipped else ""
        print(f"{name}: {ran} blocks in {time.perf_counter() - begun:.1f} s{note}", flush=True)
    print(f"the book is sound: {total} blocks ran, {left} left out")


if __name__ == "__main__":
    main()
