"""Where nobody looks at the notebook, the course's drawings are left out: the same cells, and no verdict changes."""

import sys
from types import ModuleType

import pytest

from autograder.pipeline.drawings import Drawing, blank, drawing

MODULE = "drawn.figures"


@pytest.fixture
def drawn(monkeypatch):
    """A course's module of drawings; gives the names of those that were drawn."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    names: list[str] = []

    def bars():
        names.append("bars")
        return pyplot.subplots(figsize=(1, 1))[0]

    module = ModuleType(MODULE)
    module.__all__ = ["bars", "heads"]
    module.bars, module.heads = bars, lambda layer=0: layer
    monkeypatch.setitem(sys.modules, "drawn", ModuleType("drawn"))
    monkeypatch.setitem(sys.modules, MODULE, module)
    return names


@pytest.mark.parametrize("source", ["figures.bars()", " figures.bars()\n"])
def test_a_drawing_that_nobody_sees_is_not_drawn(drawn, source):
    assert blank(source, MODULE) == Drawing({}, {})
    assert drawn == []


@pytest.mark.parametrize("source", ["figures.heads()", "figures.other()", "x = figures.bars()", "1 + 1", ""])
def test_every_other_cell_is_run_as_before(drawn, source):
    assert blank(source, MODULE) is None and drawing(source, MODULE) is None


def test_a_drawing_is_drawn_once_however_its_cell_is_written(drawn):
    pictures = [drawing(text, MODULE) for text in ("figures.bars()", "figures.bars() ", "figures.bars()")]
    assert drawn == ["bars"] and pictures[0] == pictures[1] == pictures[2]
    assert pictures[0] is not None and pictures[0].data["image/png"]
