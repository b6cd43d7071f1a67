"""Threads do not survive a fork: a forked child would wait for them for ever."""

from __future__ import annotations

import os

from ._native import ToileError

_first: int | None = None


def check() -> None:
    """Notes the process that solves first; refuses to solve in a fork of it."""
    global _first
    if _first is None:
        _first = os.getpid()
    elif _first != os.getpid():
        raise ToileError(
            "this process was forked from one that had already solved something, and threads do not survive that; start "
            'processes by spawning: multiprocessing.get_context("spawn"), or mp_context= of ProcessPoolExecutor'
        )
