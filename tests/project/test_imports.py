"""Programs that no other test starts as a whole can at least be imported."""

from __future__ import annotations

import importlib

import pytest

from tests.grading import ROOT
from tests.tree import modules

MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in modules("tools")]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_of_a_program_can_be_imported(module: str) -> None:
    importlib.import_module(module)
