"""Which cells an answer can influence: those that use a name that it binds."""

import pytest
from nbformat.v4 import new_notebook

from autograder.authoring.trial import affected, needed
from tests.plain.tiny import cell, solution


def notebook(answer: str, between: str):
    hidden = "\n### BEGIN HIDDEN TESTS\nfrom autograder import reference\n### END HIDDEN TESTS"
    graded = {"grade": True, "locked": True, "points": 1}
    return new_notebook(
        cells=[solution(answer, "answer"), cell(between), cell(f"check(drawn){hidden}", "graded", **graded)]
    )


@pytest.mark.parametrize(
    "between",
    [
        "def drawn(): return weights",
        "class drawn:\n    kept = weights",
        "def drawn(x):\n    def inner(): return weights + x\n    return inner",
        "drawn = [weights for _ in range(3)]",
        "def drawn(x=weights): return x",
        "%time other = 1\ndef drawn(): return weights",
        "from elsewhere import *\ndrawn = weights",
        "def drawn():\n    global weights\n    weights = 1\n    return weights",
        "@weights\ndef drawn(): pass",
    ],
)
def test_a_cell_that_uses_the_answers_name_is_influenced_by_it(between: str) -> None:
    assert affected(notebook("weights = 1", between), ["answer"]) == [2]


@pytest.mark.parametrize(
    "between",
    [
        "def drawn(weights): return weights",
        "drawn = lambda weights: weights",
        "drawn = [weights for weights in range(3)]",
        "def drawn():\n    weights = 1\n    return weights",
        "def drawn(x):\n    def inner(weights): return weights + x\n    return inner",
        "class drawn:\n    def forward(self, weights): return weights",
    ],
)
def test_a_parameter_or_variable_of_a_function_is_another_name(between: str) -> None:
    assert affected(notebook("weights = 1", between), ["answer"]) == []
    assert needed(notebook("weights = 1", between), 2) == {1, 2}


@pytest.mark.parametrize(
    "change", ["drawn.size = 3", "drawn[0] = 3", "drawn.sizes[0].x = 3", "drawn += 1", "import drawn.all"]
)
def test_a_cell_that_changes_what_is_used_is_needed(change: str) -> None:
    assert 1 in needed(notebook("drawn = 1", change), 2)
    assert 0 in needed(notebook("drawn = 1", change), 2)
