"""A run of all tests draws: of the slow ones it has a part, and the next run has others.

CI has them all (``EVERY=1``), and so has whoever names a folder, a file or a test. Files whose tests share what takes
long to make are drawn as one.
"""

from __future__ import annotations

import hashlib
import os
import time

import pytest

ONE_IN = 12
#: The variable with the seed; empty where every test is run. Workers inherit it.
DRAW = "DRAW"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        everything = [os.path.abspath(word) for word in config.args] == [str(config.rootpath / "tests")]
        drawing = everything and not os.environ.get("EVERY")
        os.environ[DRAW] = (os.environ.get(DRAW) or f"{time.time_ns():x}") if drawing else ""


@pytest.hookimpl(trylast=True)  # each has its markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = os.environ[DRAW]
    if not seed:
        return
    left = {item for item in items if item.get_closest_marker("slow") and not is_drawn(item, seed)}
    config.hook.pytest_deselected(items=[*left])
    items[:] = [item for item in items if item not in left]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if seed := os.environ[DRAW]:
        line = f"one in {ONE_IN} of the slow tests was drawn; the same again: {DRAW}={seed}; all: EVERY=1"
        terminalreporter.write_line(line)


def is_drawn(item: pytest.Item, seed: str) -> bool:
    group = item.get_closest_marker("xdist_group")
    shared = group is not None and group.args == (item.path.stem,)
    name = item.path.name if shared else item.nodeid
    return int(hashlib.sha256(f"{seed} {name}".encode()).hexdigest(), 16) % ONE_IN == 0
