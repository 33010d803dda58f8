"""What a mutant is compared by: calls of the solution, of which large ones are few."""

from types import SimpleNamespace

import pytest

from autograder.mutants.recorded import Recorder
from autograder.mutants.replay import LARGE, MAX_ALIKE, _varied

torch = pytest.importorskip("torch")
PLACE = "cell layer_answer"
SOLUTION = """
class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear = torch.nn.Linear(config.dim, config.dim)

    def forward(self, x):
        return self.linear(x)
"""


def recorded(*calls: tuple[int, int]) -> Recorder:
    """calls: (dim, tokens)"""
    space = {"torch": torch, "__name__": "__main__"}
    exec(compile(SOLUTION, PLACE, "exec"), space)
    recorder = Recorder((PLACE,), frozenset({"Layer"}))
    with recorder.recording():
        for dim, tokens in calls:
            space["Layer"](SimpleNamespace(dim=dim))(torch.ones(tokens, dim))
    return recorder


def test_a_call_weighs_what_its_module_weighs() -> None:
    (made, called) = recorded((1100, 2)).calls
    assert [made.name, called.name] == ["Layer.__init__", "Layer.forward"]
    assert made.size > LARGE and called.size > LARGE


def test_of_large_calls_few_are_made_again_and_none_is_varied() -> None:
    again = list(_varied(recorded((6, 2), *((1100, tokens) for tokens in range(1, 9))).calls))
    large = [call for call in again if call.size > LARGE]
    assert [call.source for call in large] == ["as called"] * (1 + MAX_ALIKE)  # made once, and called
    assert len([call for call in again if call.size <= LARGE]) > 20
