#!/usr/bin/env python3
"""Checks the built book: every link, picture, script and anchor within it must lead somewhere.

    docs/book/links.py target/book
"""

import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page has (anchors) and what it asks for (links)."""

    def __init__(self, path: pathlib.Path):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(given[k] for k in ("id", "name") if given.get(k))
        wanted = [given[k] for k in ("href", "src") if given.get(k)]
        self.links += [(self.getpos()[0], link) for link in wanted]


def main(root: pathlib.Path) -> None:
    pages = {path.resolve(): Page(path) for path in sorted(root.rglob("*.html"))}
    wrong, count = [], 0
    for path, page in pages.items():
        # The page for wrong addresses is served from anywhere; its links are those of the others.
        if path.name == "404.html":
            continue
        for line, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                wrong.append(f"{path}:{line}: {link} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                wrong.append(f"{path}:{line}: {link}: there is no such place on that page")
    if not pages or wrong:
        raise SystemExit("\n".join(wrong) or f"{root} holds no pages; build the book first")
    print(f"the book in {root}: {len(pages)} pages, {count} links lead somewhere")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/book"))
