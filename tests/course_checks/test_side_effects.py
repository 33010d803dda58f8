"""What values do not show: a call that changes what it is given, and one that training could not reach."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from autograder.exercise import SIDE_EFFECTS, Answers, Case, Exercise, compare_case, without_side_effects
from course.check import distilbert, limits
from course.check.base import CheckFailed
from course.check.encoder_lab import _attempts as encoder_lab
from course.check.side_effects import side_effects
from course.check.transformer_tutorial import calls as transformer_tutorial

X = torch.arange(6.0).reshape(2, 3)


def test_a_call_that_leaves_everything_as_it_was_has_no_side_effect():
    assert side_effects(lambda x: 2 * x, X) == {"changed": [False], "cut": [False], "unsteady": [False]}


def test_a_change_in_place_is_seen():
    assert side_effects(lambda x: x.add_(1), X) == {"changed": [True]}
    layer = nn.Linear(3, 3)
    assert side_effects(lambda x: (layer(x), x.zero_())[0], X, weights=[layer.weight]) == {"changed": [True]}


def test_a_result_that_is_cut_from_what_it_is_made_of_is_seen():
    layer = nn.Linear(3, 3)
    weights = [layer.weight.requires_grad_(False)]
    assert side_effects(layer, X, weights=weights)["cut"] == [False, False]
    assert side_effects(lambda x: x + layer(x).detach(), X, weights=weights)["cut"] == [False, True]
    assert side_effects(lambda x: (2 * x).tolist(), X)["cut"] == [True]
    assert not layer.weight.requires_grad


def test_a_sum_written_over_what_a_layer_needs_for_its_gradient_is_cut_off():
    norm = nn.LayerNorm(3)

    def overwritten(x: torch.Tensor) -> torch.Tensor:
        total = x + 1
        return total.add_(norm(total))

    assert side_effects(overwritten, X) == {"changed": [False], "cut": [True], "unsteady": [False]}


def test_a_call_that_stops_or_gives_nothing_is_judged_elsewhere():
    assert side_effects(lambda x: x @ x, X) == side_effects(lambda x: None, X) == {}


class Endless(nn.Module):
    def __init__(self, *given: object) -> None:
        super().__init__()

    def forward(self, *given: object) -> None:
        while True:
            pass


def test_a_part_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ATTEMPT_SECONDS", 0.05)
    monkeypatch.setattr(limits, "_stopped", False)
    assert encoder_lab.effects(lambda: nn.Sequential(nn.Linear(3, 3), Endless()), given=X) == {}
    assert encoder_lab.effects(lambda: Endless()(X), given=X) == {}
    heads = torch.ones(1, 2, 1, 3)
    case = SimpleNamespace(queries=heads, keys=heads, values=heads, mask=heads[:, :, 0, 0] > 0)
    with pytest.raises(limits.TookTooLong):
        transformer_tutorial.attention_mask(Endless, case)
    assert limits._stopped


def test_a_right_answer_with_a_side_effect_is_named_and_no_other():
    exercise = Exercise(lambda _: [], without_side_effects(compare_case), SIDE_EFFECTS)
    case = Case(expected={"y": np.ones(3)})

    def named(**answers: object) -> list[str]:
        arrays = {name: np.asarray(value) for name, value in answers.items()}
        return [check.mistake for check in exercise.rule(exercise, case, Answers(arrays)).checks]

    assert named(y=np.ones(3), changed=[False], cut=[False]) == [""]
    assert named(y=np.ones(3), changed=[False], cut=[True]) == ["CUT"]
    assert named(y=np.ones(3), changed=[True], cut=[True]) == ["CHANGED"]
    assert named(y=np.zeros(3), changed=[True], cut=[True]) == [""]


def test_a_second_call_that_fails_takes_nothing_back() -> None:
    calls = []

    def once(x):
        calls.append(x)
        if len(calls) > 1:
            raise RuntimeError("only once")
        return x.detach()

    assert side_effects(once, X) == {"changed": [False], "cut": [True], "unsteady": [False]}


def test_what_differs_from_call_to_call_is_unsteady() -> None:
    assert side_effects(lambda x: torch.nn.functional.dropout(x, 0.5), X)["unsteady"] == [True]


def test_a_check_leaves_the_random_numbers_of_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """fork_rng puts back the CPU's alone; torch.manual_seed seeds both."""
    seeded: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    with pytest.raises(CheckFailed):
        distilbert.padding_mask(lambda scores, attention_mask: scores)
    assert seeded == []
    torch.manual_seed(0)
    assert seeded == [0]
