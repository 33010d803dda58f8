"""What a command would be called with, without running it."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

import pytest

from autograder import cli


def parsed(monkeypatch: pytest.MonkeyPatch, name: str, argv: list[str], code: int = 0) -> dict[str, Any]:
    """The arguments of the command ``name`` after ``autograder ARGV``, which must end with the exit code."""
    module = import_module(f"autograder.commands.{name.replace('-', '_')}")
    seen: dict[str, Any] = {}

    @functools.wraps(module.run)
    def record(**given: Any) -> int:
        seen.update(given)
        return 0

    with monkeypatch.context() as patched:
        patched.setattr(module, "run", record)
        assert cli.main(argv) == code
    return seen
